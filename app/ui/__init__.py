"""What several pages share: live parts, charts, cards, colours."""
