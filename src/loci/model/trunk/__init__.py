"""Third axis: how blocks are stacked between embedding and head. A new trunk is a file here and a line below."""

from loci.model.tap import Trace
from loci.model.trunk.base import Trunk
from loci.model.trunk.perceiver_causal import CausalPerceiverTrunk
from loci.model.trunk.perceiver_course import BarePerceiverTrunk, CoursePerceiverTrunk
from loci.model.trunk.plain import PlainTrunk
from loci.registry import Registry

TRUNKS: Registry[type[Trunk]] = Registry("trunk")
TRUNKS.add("plain", PlainTrunk)
TRUNKS.add("perceiver-course", CoursePerceiverTrunk)
TRUNKS.add("perceiver-course-bare", BarePerceiverTrunk)
TRUNKS.add("perceiver", CausalPerceiverTrunk)

__all__ = ["TRUNKS", "CausalPerceiverTrunk", "CoursePerceiverTrunk", "PlainTrunk", "Trace", "Trunk"]
