"""`python -m groupwise.worker`: the supervisor of this data home."""

import sys

from groupwise.storage.home import output
from groupwise.worker.supervisor import main

output.keep_secrets()
sys.exit(main())
