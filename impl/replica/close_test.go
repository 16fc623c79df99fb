package replica

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	messages "purgelab/impl/segment"
	"purgelab/impl/transfer"
	"purgelab/impl/vfs"
)

// handles is a disk that knows which files are open.
type handles struct {
	vfs.FS
	open []*handle
}

type handle struct {
	vfs.File
	fs   *handles
	path string
}

// Create implements vfs.FS.
func (h *handles) Create(l vfs.Label, path string) (vfs.File, error) {
	return h.opened(path)(h.FS.Create(l, path))
}

// Open implements vfs.FS.
func (h *handles) Open(path string) (vfs.File, error) { return h.opened(path)(h.FS.Open(path)) }

func (h *handles) opened(path string) func(vfs.File, error) (vfs.File, error) {
	return func(f vfs.File, err error) (vfs.File, error) {
		if err != nil {
			return nil, err
		}
		o := &handle{f, h, path}
		h.open = append(h.open, o)
		return o, nil
	}
}

// Close implements vfs.File.
func (f *handle) Close() error {
	f.fs.open = slices.DeleteFunc(f.fs.open, func(o *handle) bool { return o == f })
	return f.File.Close()
}

// A replica that has a base, and sends its state, lets all files go.
func TestCloseLetsAllFilesGo(t *testing.T) {
	c := newClusterOf(t, 1, moving)
	c.elect()
	c.history(30, 0)
	c.cfg.Compact = Compaction{} // the base stays
	c.begin()
	c.reach("a base", c.copied)
	c.elect()
	c.history(3, 0)
	cfg := c.replicas[0].cfg
	c.crash(1, false)
	h := &handles{FS: c.disks[0].FS()}
	cfg.FS = h
	r, err := Open(cfg)
	require.NoError(t, err)
	_, err = r.line.base.Entries(r.line.base.First(), r.line.base.Last()+1, 1<<20)
	require.NoError(t, err)
	r.sender = transfer.NewSender(transfer.SenderOptions{})
	m, err := r.sender.Offer(2, r.eng, r.termOf)
	require.NoError(t, err)
	before := len(h.open)
	require.Nil(t, r.sender.Request(2, &transfer.Request{Offer: m.ID(), At: messages.FirstByte, Chunks: 1}))
	_, chunk, err := r.sender.Next()
	require.NoError(t, err)
	require.NotNil(t, chunk.Chunk)
	require.Greater(t, len(h.open), before)
	require.NoError(t, r.Close())
	for _, o := range h.open {
		t.Errorf("%s is open", o.path)
	}
}

// Who has copied a base, of a log or of a state, its own or another one's, has nothing
// open but what a boot opens; and nothing is open after a copy that was not ended.
func TestCopyLetsAllFilesGo(t *testing.T) {
	for _, moves := range []bool{false, true} {
		c := newClusterOf(t, 3, func(cfg *Config) {
			if cfg.Policy, cfg.JournalBytes = allReplicated, 600; moves {
				moving(cfg)
			}
		})
		for range 2 { // the second base goes on from another one
			c.elect()
			c.history(30, 0)
			c.powerLoss()
			who := c.begin()
			for _, id := range []int{who, who%3 + 1} {
				cfg := c.replicas[id-1].cfg
				c.crash(id, false)
				h := &handles{FS: c.disks[id-1].FS()}
				cfg.FS = h
				r, err := Open(cfg)
				require.NoError(t, err)
				require.Equal(t, id == who, len(h.open) > 0, "the chosen log")
				require.NoError(t, r.Release())
				require.Empty(t, h.open, "machine %d", id)
				c.replicas[id-1], err = Open(cfg)
				require.NoError(t, err)
				c.reach("a base", func() bool { return c.replicas[id-1].copy == nil })
				n := len(h.open)
				require.NoError(t, c.replicas[id-1].Release())
				require.Empty(t, h.open, "machine %d, of %d", id, n)
				require.NoError(t, c.boot(id))
			}
			c.reach("a base everywhere", c.copied)
			c.reach("whole", c.whole)
		}
	}
}
