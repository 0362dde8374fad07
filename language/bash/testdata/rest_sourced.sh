# Is sourced by rest.sh.
true
eval 'true
inner'
