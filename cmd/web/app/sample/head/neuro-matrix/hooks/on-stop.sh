#!/bin/sh
# Runs when a session stops.
echo "session stopped"
