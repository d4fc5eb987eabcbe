"""The settings as a person looks at them: what is listed and how it is drawn, without widgets."""
