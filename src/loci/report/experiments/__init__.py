"""The pages of the experiments: results in, words, tables and figures out."""

from loci.report.experiments.parts import ExperimentReport, Section, Table

__all__ = ["ExperimentReport", "Section", "Table"]
