package history

// The tokens of a plain line. After the first that is not plain, the others mean
// nothing.

func (p *plain) peek() byte {
	if p.at < len(p.b) {
		return p.b[p.at]
	}
	p.bad = true
	return 0
}

func (p *plain) skip(c byte) {
	if p.peek() != c {
		p.bad = true
		return
	}
	p.at++
}

// literal is exactly that.
func (p *plain) literal(s string) {
	if len(p.b)-p.at < len(s) || string(p.b[p.at:p.at+len(s)]) != s {
		p.bad = true
		return
	}
	p.at += len(s)
}

// once marks a field as read; one that is there twice is not plain.
func (p *plain) once(seen *bool) {
	p.bad = p.bad || *seen
	*seen = true
}

// object reads {"name":…,…}; field reads what follows a name.
func (p *plain) object(field func(name []byte)) {
	p.skip('{')
	if p.peek() == '}' {
		p.at++
		return
	}
	for !p.bad {
		name := p.raw()
		p.skip(':')
		if p.bad {
			return
		}
		field(name)
		if p.peek() != ',' {
			break
		}
		p.at++
	}
	p.skip('}')
}

// array reads […,…].
func (p *plain) array(element func()) {
	p.skip('[')
	if p.peek() == ']' {
		p.at++
		return
	}
	for !p.bad {
		element()
		if p.peek() != ',' {
			break
		}
		p.at++
	}
	p.skip(']')
}

// raw is a string without anything to unescape, in ASCII.
func (p *plain) raw() []byte {
	p.skip('"')
	from := p.at
	for p.at < len(p.b) && p.b[p.at] != '"' {
		if c := p.b[p.at]; c < ' ' || c > '~' || c == '\\' {
			p.bad = true
			return nil
		}
		p.at++
	}
	out := p.b[from:p.at]
	p.skip('"')
	return out
}

func (p *plain) text() string { return p.room.texts.of(p.raw()) }

func (p *plain) word(seen *bool) string {
	p.once(seen)
	return p.text()
}

// truth is true or false.
func (p *plain) truth(seen *bool) bool {
	p.once(seen)
	word, is := "false", p.peek() == 't'
	if is {
		word = "true"
	}
	p.literal(word)
	return is
}

func (p *plain) number(seen *bool) int64 {
	p.once(seen)
	return p.signed()
}

func (p *plain) unsigned(seen *bool, most uint64) uint64 {
	p.once(seen)
	return p.digits(most)
}

func (p *plain) signed() int64 {
	minus := p.peek() == '-'
	if minus {
		p.at++
	}
	n := int64(p.digits(1 << 62))
	if minus {
		p.bad = p.bad || n == 0
		return -n
	}
	return n
}

// digits is a whole number without leading zeros, at most most.
func (p *plain) digits(most uint64) uint64 {
	from, n := p.at, uint64(0)
	for p.at < len(p.b) && p.b[p.at] >= '0' && p.b[p.at] <= '9' {
		n = n*10 + uint64(p.b[p.at]-'0')
		p.at++
	}
	if d := p.at - from; d == 0 || d > 18 || d > 1 && p.b[from] == '0' || n > most {
		p.bad = true
	}
	return n
}
