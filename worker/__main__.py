"""`python -m worker`: the supervisor of this data home."""

import sys

from worker.supervisor import main

sys.exit(main())
