"""`python -m loci` is `loci`."""

import sys

from loci.cli.main import main

sys.exit(main())
