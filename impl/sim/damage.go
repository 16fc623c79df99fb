package sim

import (
	"math/rand/v2"
	"path"
	"slices"

	"purgelab/impl/record"
	"purgelab/impl/vfs"
	"purgelab/model/op"
)

// Damage spoils one of the small durable records of a machine's replica of a
// partition: one whose name matches the pattern. A byte of it changes, or it loses
// its second half. As by Rot, no more than a minority of machines is struck, or a
// single one. It tells which file; empty if there is none that it may.
func (c *Cluster) Damage(id, p int, pattern string, r *rand.Rand) string {
	m := &c.machines[id]
	if !c.mayRot(m, p) {
		return ""
	}
	// Its own handles: those of the machine may be dead. The clone shows what is in
	// the cache, and so does the medium once it is changed there.
	fs, at := m.disk.Clone().FS(), c.ran(m, p)
	who := record.Identity{Cluster: 1, Partition: at.partition, Replica: uint32(id), Incarnation: at.incarnation}
	var files []string
	var list func(dir string)
	list = func(dir string) {
		names, err := fs.List(dir)
		if err != nil {
			return
		}
		for _, name := range names {
			if sub, ok := isFolder(name); ok {
				list(dir + "/" + sub)
				continue
			}
			ok, _ := path.Match(pattern, name)
			if _, a, _ := record.Read(fs, dir+"/"+name, who); ok && a == record.Value {
				files = append(files, dir+"/"+name)
			}
		}
	}
	list(at.dir())
	slices.Sort(files)
	if len(files) == 0 {
		return ""
	}
	file := files[r.IntN(len(files))]
	size, err := sizeOf(fs, file)
	if err != nil || size == 0 {
		return ""
	}
	if r.IntN(3) == 0 {
		err = m.disk.Tear(file, size/2)
	} else {
		err = m.disk.Rot(file, r.Int64N(size), 1<<r.IntN(8))
	}
	if err != nil {
		return ""
	}
	m.rotten, m.of = true, op.Partition(p)
	c.Effects.Rotten++
	return file
}

func isFolder(name string) (string, bool) {
	if n := len(name) - 1; n > 0 && name[n] == '/' {
		return name[:n], true
	}
	return "", false
}

func sizeOf(fs vfs.FS, file string) (int64, error) {
	f, err := fs.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return f.Size()
}
