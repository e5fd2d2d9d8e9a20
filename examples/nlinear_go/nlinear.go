package main

import (
	"math"
	"slices"
)

// nlinear is one linear map from past to future values, relative to the last past value. All
// features share it.
type nlinear struct {
	context, prediction int
	weight              []float32 // [context, prediction], then the bias
	gradient            []float32
	moment1, moment2    []float32 // of Adam (Kingma, Ba, ICLR 2015)
	steps               int
	input, residual     []float32 // of one series
}

func newNLinear(context, prediction int) *nlinear {
	zeros := func(n int) []float32 { return make([]float32, n) }
	n := (context + 1) * prediction
	return &nlinear{
		context: context, prediction: prediction, weight: zeros(n), gradient: zeros(n),
		moment1: zeros(n), moment2: zeros(n),
		input: zeros(context), residual: zeros(prediction),
	}
}

// clone returns a model with the same weights.
func (m *nlinear) clone() *nlinear {
	c := newNLinear(m.context, m.prediction)
	c.weight = slices.Clone(m.weight)
	return c
}

// residuals calls f for each series of a batch with the model's input and its prediction minus the
// target. context is [B, F, C] and target [B, F, P].
func (m *nlinear) residuals(context, target []float32, f func(input, residual []float32)) {
	bias := m.weight[m.context*m.prediction:]
	for len(context) > 0 {
		last := context[m.context-1]
		for p := range m.residual {
			m.residual[p] = bias[p] + last - target[p]
		}
		for k := range m.input {
			m.input[k] = context[k] - last
			add(m.residual, m.input[k], m.weight[k*m.prediction:])
		}
		f(m.input, m.residual)
		context, target = context[m.context:], target[m.prediction:]
	}
}

// learn makes one step of Adam on the mean squared error of a batch.
func (m *nlinear) learn(context, target []float32, rate float32) {
	clear(m.gradient)
	slope := 2 / float32(len(target))
	m.residuals(context, target, func(input, residual []float32) {
		for k, x := range input {
			add(m.gradient[k*m.prediction:][:m.prediction], slope*x, residual)
		}
		add(m.gradient[m.context*m.prediction:], slope, residual)
	})
	m.steps++
	rate *= float32(
		math.Sqrt(1-math.Pow(0.999, float64(m.steps))) / (1 - math.Pow(0.9, float64(m.steps))))
	for i, g := range m.gradient {
		m.moment1[i] += 0.1 * (g - m.moment1[i])
		m.moment2[i] += 0.001 * (g*g - m.moment2[i])
		m.weight[i] -= rate * m.moment1[i] / (float32(math.Sqrt(float64(m.moment2[i]))) + 1e-8)
	}
}

// add adds factor times the values of from to those of to.
func add(to []float32, factor float32, from []float32) {
	from = from[:len(to)]
	for i := range to {
		to[i] += factor * from[i]
	}
}
