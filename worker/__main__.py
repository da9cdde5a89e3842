"""`python -m groupwise.worker`: the supervisor of this data home."""

import sys

from groupwise.storage.home import process_log
from groupwise.worker.supervisor import main

process_log.keep_secrets()
sys.exit(main())
