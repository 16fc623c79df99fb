package model

import (
	"testing"

	"purgelab/model/op"
)

// BenchmarkStep: one step on a partition with a thousand messages and bookmarks.
func BenchmarkStep(b *testing.B) {
	var sem Semantics
	s := Init()
	for i := range 1000 {
		s, _ = sem.Step(s, &op.Request{Kind: op.Append, Payloads: []op.Payload{"payload"}}, Choice{Timestamp: op.Timestamp(i)})
	}
	for i := range uint32(8) {
		s, _ = sem.Step(s, &op.Request{Kind: op.StoreBookmark, Key: op.Key{ID: i}, Bare: true}, Choice{})
	}
	s = s.Begin(2, s.position(900))
	for _, x := range []struct {
		name string
		r    op.Request
	}{
		{"append", op.Request{Kind: op.Append, Payloads: []op.Payload{"one"}}},
		{"poll", op.Request{Kind: op.Poll, Strategy: op.AtOffset, At: op.Position{Incarnation: 1, Offset: 500}, Max: 10}},
		{"store", op.Request{Kind: op.StoreBookmark, Key: op.Key{ID: 3}, At: op.Position{Incarnation: 2, Offset: 500}}},
		{"stale", op.Request{Kind: op.StoreBookmark, At: op.Position{Incarnation: 1, Offset: 950}}},
		{"purge", op.Request{Kind: op.Purge, Intent: 1}},
		{"new-incarnation", op.Request{Kind: op.NewIncarnation}},
	} {
		b.Run(x.name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				sem.Step(s, &x.r, Choice{})
			}
		})
	}
}
