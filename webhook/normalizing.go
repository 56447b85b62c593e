package webhook

import "runtime"

// normalizing bounds how many bodies are put into JavaScript's form at one time, because each may need a dozen times its
// size. Small bodies do not wait for large ones. No wait is long: those who hold a place only compute.
type normalizing struct{ small, large chan struct{} }

const smallBody = 64 << 10

func newNormalizing() normalizing {
	processors := runtime.GOMAXPROCS(0)
	return normalizing{small: make(chan struct{}, 8*processors), large: make(chan struct{}, processors)}
}

func (n *normalizing) enter(size int) (leave func()) {
	places := n.small
	if size > smallBody {
		places = n.large
	}
	places <- struct{}{}
	return func() { <-places }
}
