package window

// validateColumns refuses columns that are named twice, and roles that exclude each other.
func (s Spec) validateColumns() error {
	known, static := role{"known_columns", s.KnownColumns}, role{"static_columns", s.StaticColumns}
	both, context, target := role{"columns", s.Columns}, role{"context_columns", s.ContextColumns},
		role{"target_columns", s.TargetColumns}
	for _, r := range []role{both, context, target, known, static} {
		seen := make(map[string]bool, len(r.names))
		for _, name := range r.names {
			if name == "" || seen[name] {
				return &SpecError{r.field, name, "names that are not empty, each once"}
			}
			seen[name] = true
		}
	}
	if s.PredictionLength == 0 && s.TargetColumns != nil {
		return &SpecError{target.field, mustJSON(s.TargetColumns),
			"none, because prediction_length is 0"}
	}
	if err := known.checkDisjoint(target); err != nil { // what is known in advance is not predicted
		return err
	}
	for _, r := range []role{both, context, target, known} { // what never changes is delivered once
		if err := static.checkDisjoint(r); err != nil {
			return err
		}
	}
	return nil
}

// role is a list of columns in a spec.
type role struct {
	field string
	names []string
}

// apart refuses a column that another role names too.
func (r role) checkDisjoint(other role) error {
	if len(r.names) == 0 {
		return nil
	}
	others := make(map[string]bool, len(other.names))
	for _, name := range other.names {
		others[name] = true
	}
	for _, name := range r.names {
		if others[name] {
			return &SpecError{r.field, name, "columns that are not in " + other.field}
		}
	}
	return nil
}
