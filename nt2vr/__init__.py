"""nT2VR: text-to-video retrieval that understands what a person does not want."""
