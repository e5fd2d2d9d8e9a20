package tensorcache

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// fakeTrainer makes steps on a machine of two cores. A step takes stepSeconds of the present
// delivery, and idleCores are idle during steps by DeliverSlot.
type fakeTrainer struct {
	chooser               *chooser
	stepSeconds           map[string]float64
	idleCores             float64 // negative if the system does not report it
	now                   time.Time
	totalTicks, idleTicks float64
}

const fakeCores = 2

func newFakeTrainer(slot, local, idle float64) *fakeTrainer {
	m := &fakeTrainer{chooser: newChooser(), stepSeconds: map[string]float64{DeliverSlot: slot,
		DeliverLocal: local}, idleCores: idle, now: time.Unix(1, 0)}
	m.chooser.ticks = func() coreTicks {
		if m.idleCores < 0 {
			return coreTicks{}
		}
		return coreTicks{idle: int64(m.idleTicks), total: int64(m.totalTicks) + 1, cores: fakeCores}
	}
	return m
}

func (m *fakeTrainer) wait(seconds float64) { m.now = m.now.Add(time.Duration(seconds * 1e9)) }

// step makes a step that takes factor times as long as usual, and reports whether the chooser
// changed the delivery.
func (m *fakeTrainer) step(factor float64) (changed bool) {
	tried := m.chooser.delivery
	took := m.stepSeconds[tried] * factor
	m.wait(took)
	m.totalTicks += 100 * fakeCores * took
	if idle := max(0, m.idleCores); tried == DeliverSlot {
		m.idleTicks += 100 * took * idle
	} else {
		m.idleTicks += 100 * took * fakeCores
	}
	m.chooser.stepAt(m.now)
	return m.chooser.delivery != tried
}

// maxChoiceSteps is the largest number of steps that a choice takes.
const maxChoiceSteps = 16 * (trialSteps + warmupSteps + 1)

// untilSettled makes steps until the choice is final. With noise the speed changes by up to scatter
// after each trial. It returns how often the delivery changed.
func (m *fakeTrainer) untilSettled(t *testing.T, noise *rand.Rand,
	scatter float64) (changes, steps int) {
	t.Helper()
	speed := 1.0
	for !m.chooser.settled {
		factor := 1.0
		if noise != nil {
			if steps%trialSteps == 0 {
				speed = 1 + scatter*(2*noise.Float64()-1)
			}
			if noise.Float64() < 0.02 {
				m.wait(1) // a checkpoint
			}
			factor = speed * (0.9 + 0.2*noise.Float64())
		}
		if m.step(factor) {
			changes++
		}
		if steps++; steps > maxChoiceSteps {
			t.Fatalf("not settled after %d steps", steps)
		}
	}
	return changes, steps
}

// minChoiceSteps is the smallest number of steps that a choice takes.
const minChoiceSteps = 2*minLead*(trialSteps+1) + (minLead+1)*warmupSteps

func TestTheFasterDeliveryIsKeptAndIdleCoresDecideATie(t *testing.T) {
	const unknown = -1
	for _, one := range []struct {
		slot, local, idle float64
		chosen            string
	}{
		{2, 1, 1, DeliverLocal},
		{1, 2, 1, DeliverSlot},
		{1, 2, 0, DeliverSlot},
		{1, 1, 1, DeliverSlot},
		{1, 0.995, 1, DeliverSlot},
		{1, 0.995, unknown, DeliverSlot},
		{1, 0.97, 1, DeliverLocal},
		{1, 1, 0.3, DeliverLocal},
		{1, 1.01, 0, DeliverLocal},
		{1, 1.03, 0, DeliverSlot},
	} {
		m := newFakeTrainer(one.slot, one.local, one.idle)
		changes, steps := m.untilSettled(t, nil, 0)
		back := 0
		if one.chosen == DeliverLocal { // the last trial is of slots
			back = 1
		}
		if m.chooser.delivery != one.chosen || changes != minLead+back || steps != minChoiceSteps {
			t.Errorf("%+v: chose %s after %d changes in %d steps", one, m.chooser.delivery,
				changes, steps)
		}
		took := m.chooser.stepTimes()
		if math.Abs(took[DeliverSlot].Seconds()-one.slot) > 1e-6 ||
			math.Abs(took[DeliverLocal].Seconds()-one.local) > 1e-6 {
			t.Errorf("%+v: steps of %v", one, took)
		}
		for range 3 * trialSteps {
			if m.step(1) {
				t.Fatalf("%+v: changed after it had settled", one)
			}
		}
	}
}

func TestCheckpointsAndNoiseDoNotChangeTheChoice(t *testing.T) {
	for seed := range uint64(50) {
		for local, want := range map[float64]string{0.9e-3: DeliverLocal, 1.1e-3: DeliverSlot} {
			m := newFakeTrainer(1e-3, local, 1)
			if m.untilSettled(t, rand.New(rand.NewPCG(seed, 0)), 0); m.chooser.delivery != want {
				t.Errorf("seed %d: chose %s for steps of %v", seed, m.chooser.delivery,
					m.chooser.stepTimes())
			}
		}
	}
}

func TestTrialsThatScatterAreRepeated(t *testing.T) {
	wrong, longer := 0, 0
	for seed := range uint64(200) {
		for local, want := range map[float64]string{0.85: DeliverLocal, 1.15: DeliverSlot} {
			m := newFakeTrainer(1, local, 1)
			if _, steps := m.untilSettled(t, rand.New(rand.NewPCG(seed, 0)),
				0.25); steps > minChoiceSteps {
				longer++
			}
			if m.chooser.delivery != want {
				wrong++
			}
		}
	}
	if wrong >= 14 || longer <= 100 { // the median of four pairs is wrong in 26
		t.Errorf("%d of 400 choices are wrong, %d took longer than the least", wrong, longer)
	}
}

func TestTheMedianDecidesIfPairsDisagreeToTheEnd(t *testing.T) {
	m := newFakeTrainer(1, 1, 1)
	ratios := []float64{0.8, 1.2, 0.8, 1.2, 0.8, 1.2, 0.8, 0.9}
	for trialsBefore := -1; !m.chooser.settled; {
		if at := len(m.chooser.slotMeans) + len(m.chooser.localMeans); at%2 == 0 &&
			at != trialsBefore {
			if len(ratios) == 0 {
				t.Fatal("more pairs of trials than there are")
			}
			m.stepSeconds[DeliverLocal], ratios, trialsBefore = ratios[0], ratios[1:], at
		}
		m.step(1)
	}
	if m.chooser.delivery != DeliverLocal || len(ratios) > 0 {
		t.Errorf("chose %s with %d pairs left", m.chooser.delivery, len(ratios))
	}
}

func TestTimeBetweenPassesIsNoStep(t *testing.T) {
	m := newFakeTrainer(1, 0.5, 1)
	for !m.chooser.settled {
		for range 10 {
			m.step(1)
		}
		if m.wait(1); m.chooser.delivery == DeliverLocal {
			m.wait(10) // an evaluation, too short to be left out as an outlier
		}
		m.chooser.pause()
	}
	if m.chooser.delivery != DeliverLocal {
		t.Errorf("chose %s for steps of %v", m.chooser.delivery, m.chooser.stepTimes())
	}
}

func TestCoresIdleBetweenPassesDoNotCount(t *testing.T) {
	m := newFakeTrainer(1, 1.01, 0) // a tie, and no core is idle in steps
	for n := 0; !m.chooser.settled; n++ {
		m.step(1)
		if n == warmupSteps+10 { // during the first trial, whose ticks then do not count
			m.totalTicks, m.idleTicks = m.totalTicks+1e6, m.idleTicks+1e6
			m.chooser.pause()
		}
	}
	if m.chooser.delivery != DeliverLocal {
		t.Errorf("chose %s, though no core was free in passes", m.chooser.delivery)
	}
}

func TestAStepAllocatesNothing(t *testing.T) {
	m := newFakeTrainer(1, 1, 1)
	m.untilSettled(t, nil, 0)
	m.chooser.settled, m.chooser.lastStep = false, m.now
	if allocs := testing.AllocsPerRun(trialSteps/2, func() { m.step(1) }); allocs > 0 {
		t.Errorf("%v allocations a step", allocs)
	}
}
