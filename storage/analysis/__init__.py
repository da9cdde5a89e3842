"""What records say: the doctor's verdicts, statistics, and runs beside each other. Nothing here writes."""
