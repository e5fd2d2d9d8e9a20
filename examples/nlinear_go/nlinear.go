package main

import (
	"math"
	"slices"
)

// nlinear is one map of past values, relative to the last of them, to future ones: the same for
// every feature.
type nlinear struct {
	context, prediction int
	weight              []float32 // [context, prediction], then the bias
	gradient            []float32
	mean, square        []float32 // Adam's (Kingma, Ba, ICLR 2015)
	steps               int
	row, miss           []float32
}

func newNLinear(context, prediction int) *nlinear {
	zeros := func(n int) []float32 { return make([]float32, n) }
	n := (context + 1) * prediction
	return &nlinear{
		context: context, prediction: prediction, weight: zeros(n), gradient: zeros(n),
		mean: zeros(n), square: zeros(n),
		row: zeros(context), miss: zeros(prediction),
	}
}

// clone is a model with the same weights.
func (m *nlinear) clone() *nlinear {
	c := newNLinear(m.context, m.prediction)
	c.weight = slices.Clone(m.weight)
	return c
}

// errors calls f with the input and the errors of each series of a batch, [B, F, C] and [B, F, P].
func (m *nlinear) errors(context, target []float32, f func(row, miss []float32)) {
	bias := m.weight[m.context*m.prediction:]
	for len(context) > 0 {
		last := context[m.context-1]
		for p := range m.miss {
			m.miss[p] = bias[p] + last - target[p]
		}
		for k := range m.row {
			m.row[k] = context[k] - last
			add(m.miss, m.row[k], m.weight[k*m.prediction:])
		}
		f(m.row, m.miss)
		context, target = context[m.context:], target[m.prediction:]
	}
}

// learn does one step of Adam on the mean squared error of a batch.
func (m *nlinear) learn(context, target []float32, rate float32) {
	clear(m.gradient)
	slope := 2 / float32(len(target))
	m.errors(context, target, func(row, miss []float32) {
		for k, x := range row {
			add(m.gradient[k*m.prediction:][:m.prediction], slope*x, miss)
		}
		add(m.gradient[m.context*m.prediction:], slope, miss)
	})
	m.steps++
	rate *= float32(
		math.Sqrt(1-math.Pow(0.999, float64(m.steps))) / (1 - math.Pow(0.9, float64(m.steps))))
	for i, g := range m.gradient {
		m.mean[i] += 0.1 * (g - m.mean[i])
		m.square[i] += 0.001 * (g*g - m.square[i])
		m.weight[i] -= rate * m.mean[i] / (float32(math.Sqrt(float64(m.square[i]))) + 1e-8)
	}
}

// add adds x times from to the values of to.
func add(to []float32, x float32, from []float32) {
	from = from[:len(to)]
	for i := range to {
		to[i] += x * from[i]
	}
}
