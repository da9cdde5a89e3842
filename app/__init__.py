"""What a person sees and says: the dashboard and the groupwise command."""
