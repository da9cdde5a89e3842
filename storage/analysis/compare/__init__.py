"""Several runs beside each other: their curves in few points, finals, settings, reward code and the prompts they share.

Every function here is of one run, or of plain values: one run that cannot be read keeps no other from being compared.
"""
