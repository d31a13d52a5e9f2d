#!/bin/sh
# Runs when a session stops and leaves a mark for the next one.
echo "session stopped"
date >> "$HOME/.sessions"
