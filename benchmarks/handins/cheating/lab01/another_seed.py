# Another person's parameters.
import os

os.environ["KAFKALAB_LAB_SEED"] = "0"
from grading.lab import Lab

lab = Lab.open("lab01_first_topics", "somebody else")
lab.p.records = lab.p.queue = 0
lab.p.lines, lab.p.empty = [], 0
