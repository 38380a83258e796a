"""Figures: functions from results to Plotly figures."""
