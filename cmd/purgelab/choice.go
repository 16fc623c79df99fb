package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// choice is a flag whose value is one of a few names; any other value is
// refused with the names that are legal.
type choice struct {
	value string
	legal []string
	// other, if not nil, accepts values beyond the names.
	other func(string) bool
	hint  string // what other accepts, for messages
}

func newChoice(value string, legal ...string) *choice {
	return &choice{value: value, legal: legal}
}

func (c *choice) String() string { return c.value }

// Type is what help shows in place of a value.
func (c *choice) Type() string { return "name" }

func (c *choice) Set(s string) error {
	if slices.Contains(c.legal, s) || c.other != nil && c.other(s) {
		c.value = s
		return nil
	}
	return fmt.Errorf("want one of %s", c.list())
}

// list is the legal values as help and errors print them.
func (c *choice) list() string {
	all := c.legal
	if c.hint != "" {
		all = append(slices.Clip(all), c.hint)
	}
	return strings.Join(all, ", ")
}

// completeChoices lets the shell complete the values of a flag.
func completeChoices(cmd *cobra.Command, flag string, c *choice) {
	completeList(cmd, flag, c.legal)
}

func completeList(cmd *cobra.Command, flag string, legal []string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(legal, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // the flag does not exist: a bug of the caller
	}
}

// flagError words the refusal of a flag's value: the flag, the value, and what
// would be legal.
func flagError(err error) error {
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return err
	}
	want := errors.Unwrap(bad)
	switch bad.GetFlag().Value.Type() {
	case "uint64":
		want = errors.New("want a whole number, at least 0")
	case "int":
		want = errors.New("want a whole number")
	case "duration":
		want = errors.New("want a time, such as 30s or 2m")
	case "bool":
		want = errors.New("want true or false")
	}
	return fmt.Errorf("--%s %s: %w", bad.GetFlag().Name, bad.GetValue(), want)
}
