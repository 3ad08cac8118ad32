"""The memory inspector: what is known of one belief, as plain data first and as text second.

It folds the slice of the log that decides the belief, so it costs by the belief and not by the log, and needs no
projection. What the rules say is read off the fold; nothing here decides anything.
"""
