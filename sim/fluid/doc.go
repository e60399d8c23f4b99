// Package fluid shares the capacity of links among flows: weighted max-min
// fairness, exact and incremental.
//
// A [Solver] knows links, flows and rates; a [Pool] gives flows bytes and lets
// them end in simulated time. What is left out: anything that a flow does to
// another before they share a link (buffers, arbitration, loss), which is the
// business of packet models.
//
// # What the rates are
//
// All numbers are integers. A link l has a capacity C(l) in units per second. A
// flow f has a fairness weight w(f), perhaps a limit, and a hop weight h(f,l)
// on each link of its path; at level k it runs at rate k w(f) and consumes
// k c(f,l) of a link, where c(f,l) = w(f) h(f,l).
//
// Progressive filling raises one level for all. At any moment let W(l) be the
// sum of c(f,l) over the flows that are not frozen, R(l) the capacity less what
// the frozen ones consume, and key(l) = floor(R(l)/W(l)) where W(l) > 0: the
// level to which all its flows could rise together. A limit is a private link
// of its flow, with key floor(limit/w). The step is:
//
//	let k be the least key; freeze at level k every flow that is on a link
//	whose key, as it was before this step, is k; repeat until none is left.
//
// Fact 1: keys only rise, and after a step all keys are above k. Let p be the
// weight on l that freezes in a step at level k, and K = key(l) before it, so
// R >= K W. Afterwards R' = R - k p >= K W - k p = K (W - p) + (K - k) p >= K W'.
// A link with K = k has no flow left; any other has K >= k+1.
//
// Fact 2: the levels are a function of capacities and flows alone. Every step
// is defined by sums of integers over sets, which have no order. So it does not
// matter in which order flows were added, what was there before, or whether n
// flows are given one by one or as a single one with n times the hop weight on
// a link that stands for n alike.
//
// A link that fills is left with less than W(l) units, so a level is below the
// real-valued one by a fraction of about 1/k. Pool scales capacities to 61
// bits, which leaves that near 1e-15.
//
// # What has to be solved again
//
// Of the limits and links with key k, taken in some order, say that a link
// fills at k if it finds a flow to freeze. Let the flows and capacities change, and let v be such
// that (a) no link that a flow leaves, or whose capacity changes, filled below
// v, and (b) for each link l that has a newcomer or a lesser capacity C,
// filling it does not stop below v: for all k < v,
//
//	sum of level(f) c(f,l) over old flows with level(f) < k
//	  + (k+1) x the sum of c(f,l) over all others on l, newcomers too  <=  C.
//
// Fact 3: old flows with a level below v keep it, and the others stay at v or
// above. By induction over the levels k < v: so far the same old flows froze
// at the same levels, before and after the change. A link on which nothing
// changed has the same R and W, so it freezes the same flows at k; those that
// filled at k are among them. A link of (a) did not fill, so what it would freeze
// at k is frozen by those, and with less weight or more capacity it would freeze
// no more now. A link of (b) has a key above k
// after the change, and had before, as the sum is at least what either compares
// with C. So the same old flows freeze at k.
//
// So it is enough to lift the flows of level v or more, to count the others'
// consumption as a constant, an exact integer sum, and to go on filling from
// there: this is the full filling with its first steps skipped, bit for bit.
// Flows that no chain of lifted flows and their links connects to a change face
// the same problem as before, so they keep their levels too. The parts so
// found are independent: to each, a flow that left another part at a level
// below its own was one with a limit, and it may use the least v of its own
// changes. A link that never filled and that flows only left causes nothing.
//
// The solver finds v for (b) by passes over the link's flows: b = floor(C / sum
// of all c), then again with the flows known to be below b at their own level,
// b' = floor((C - sum of level c below b) / sum of the other c), until it stays.
// Each b is valid: in the sum of (b) for a k < b', flows below level b count as
// in b', and each other flow, at its level < k or at k+1, for at most b' c; so
// the sum is at most what b' was made to fit.
//
// The idea of a level below which nothing moves is the bottleneck structure of
// Ros-Giralt and others ("On the bottleneck structure of congestion-controlled
// networks", SIGMETRICS 2020); re-solving the connected part only is what
// SimGrid's lmm does ("selective update"). [Mode] offers that, and solving all,
// to doubters.
//
// # Cost
//
// A solve costs some 10 to 20 ns for each hop of a lifted flow, and a logarithm
// for each link. Memory is 80 bytes for a flow of two hops, and another 56 in a
// Pool. Nothing is allocated once the slices have grown; [Pool.Reserve] lets
// them start at full size, which halves the peak of a process in which a
// million flows start at once.
package fluid
