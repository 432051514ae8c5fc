"""Making a guide: references, trajectories, training and tuning."""
