"""`python -m worker`: the supervisor of this data home."""

import sys

from storage import output
from worker.supervisor import main

output.keep_secrets()
sys.exit(main())
