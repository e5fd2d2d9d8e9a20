package feed

func playTrainer() error { return nil }
func playHolder() error  { return nil }
