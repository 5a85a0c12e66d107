#!/bin/sh
# redis.sh DIRECTORY PORT: Redis that knows the hub's user, the users of the sites, and nobody else.
# The hub's password is that of $FLEET_BROKER_PASSWORD at each start; sites' users stay as they were.
set -eu
directory=$1 port=$2
users=$directory/users.acl
umask 077
digest=$(printf %s "${FLEET_BROKER_PASSWORD:?is not set: run deploy/compose/make_env.py}" | sha256sum | cut -d' ' -f1)
{
    echo "user default off"
    echo "user hub on #$digest ~* &* +@all"
    [ ! -e "$users" ] || grep '^user site-' "$users" || true
} > "$users.new"
mv "$users.new" "$users"
# Protected mode asks for a password of the default user, who is off.
exec redis-server --dir "$directory" --port "$port" --protected-mode no --aclfile "$users" \
    --appendonly yes --save ""
