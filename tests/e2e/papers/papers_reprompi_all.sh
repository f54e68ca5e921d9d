#!/bin/sh
# papers_reprompi.sh with all figures.
figures=t1,1,2,3,4,5,6,7,8,9,10,11,12,nrep,clocks
. "$(dirname "$0")/papers_reprompi.sh"
