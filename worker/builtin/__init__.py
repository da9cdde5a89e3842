"""What ships with Groupwise: rewards, tasks and the starter model, and how they get into a run."""
