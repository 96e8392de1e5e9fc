package sandbox

import "slices"

// Keeper holds on to the beginning and the end of a stream, in memory that does
// not grow with it. Its zero value keeps nothing; it is not safe for concurrent use.
type Keeper struct {
	headLimit, tailLimit int
	head                 []byte
	// tail is a ring once it is full; next is where its oldest byte lies.
	tail  []byte
	next  int
	total int64
}

// NewKeeper keeps limit bytes, half of them from the beginning.
func NewKeeper(limit int) Keeper {
	limit = max(limit, 0)
	return Keeper{headLimit: limit - limit/2, tailLimit: limit / 2}
}

// Add takes the stream's next bytes, which the caller may use again.
func (k *Keeper) Add(b []byte) {
	k.total += int64(len(b))
	if room := k.headLimit - len(k.head); room > 0 {
		n := min(room, len(b))
		k.head = append(k.head, b[:n]...)
		b = b[n:]
	}
	if len(b) >= k.tailLimit {
		k.tail = append(k.tail[:0], b[len(b)-k.tailLimit:]...)
		k.next = 0
		return
	}
	if room := k.tailLimit - len(k.tail); room > 0 {
		n := min(room, len(b))
		k.tail = append(k.tail, b[:n]...)
		b = b[n:]
	}
	for len(b) > 0 {
		n := copy(k.tail[k.next:], b)
		k.next = (k.next + n) % k.tailLimit
		b = b[n:]
	}
}

// Full reports whether more was written than is kept.
func (k *Keeper) Full() bool { return k.total > int64(k.headLimit+k.tailLimit) }

// Captured is what was kept: all of it in Head when nothing was lost.
func (k *Keeper) Captured() Captured {
	tail := slices.Concat(k.tail[k.next:], k.tail[:k.next])
	if k.total == int64(len(k.head)+len(tail)) {
		return Captured{Head: append(k.head, tail...), Total: k.total}
	}
	return Captured{Head: k.head, Tail: tail, Total: k.total}
}
