package main

import (
	"fmt"
	"runtime"
)

// sampled is an address within count, as a profiler would give it.
var sampled uintptr

func divides(a, b int) bool { return b%a == 0 }

//go:noinline
func count(limit int) int {
	found := 0
	for candidate := 2; candidate < limit; candidate++ {
		prime := true
		for divisor := 2; divisor*divisor <= candidate; divisor++ {
			prime = prime && !divides(divisor, candidate)
		}
		if prime {
			found++
		}
	}
	sampled, _, _, _ = runtime.Caller(0) // the sampled line
	return found
}

func main() {
	fmt.Println(count(1000), "primes")
	fmt.Printf("%#x\n", sampled)
}
