"""Adapters: cuecard in the frameworks that run agents, one small file for each.

Importing this package imports no framework; each module imports its own.
"""
