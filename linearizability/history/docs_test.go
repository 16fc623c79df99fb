package history

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDocumentedExamples: every example in docs/history.md can be read.
func TestDocumentedExamples(t *testing.T) {
	text, err := os.ReadFile("../../docs/history.md")
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	require.NotEmpty(t, blocks)
	for _, b := range blocks {
		events, err := Parse("docs/history.md", strings.NewReader(b[1]))
		require.NoError(t, err)
		_, err = Pair("docs/history.md", events)
		require.NoError(t, err)
	}
}
