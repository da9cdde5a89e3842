"""A corpus of short real runs whose sickness is known, by which the doctor is measured."""
