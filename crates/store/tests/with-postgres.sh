#!/bin/sh
# Runs a command with SAUTI_TEST_POSTGRES_URL naming a private PostgreSQL server, and removes the server afterwards.
#   crates/store/tests/with-postgres.sh cargo test -p sauti-store
set -eu

[ $# -gt 0 ] || { echo "usage: $0 COMMAND..." >&2; exit 2; }
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
[ -n "$bin" ] || bin=$(dirname "$(command -v postgres)") || { echo "$0: no PostgreSQL found" >&2; exit 2; }

folder=$(mktemp -d /tmp/sauti-postgres.XXXXXX)
user=$(id -un)
as_user() { "$@"; }
if [ "$(id -u)" = 0 ]; then
    # The server refuses to run as root.
    user=postgres
    chown "$user" "$folder"
    as_user() { setpriv --reuid "$user" --regid "$user" --init-groups -- "$@"; }
fi

stop() {
    as_user "$bin/pg_ctl" -D "$folder/data" -m immediate -w stop >/dev/null 2>&1 || true
    rm -rf "$folder"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

cd "$folder"
as_user "$bin/initdb" -D "$folder/data" -U sauti -A trust -E UTF8 --no-locale --no-sync >"$folder/initdb.log" 2>&1 ||
    { cat "$folder/initdb.log" >&2; exit 1; }
# A socket in a private folder, no TCP: nothing else on the machine can collide with it or reach it.
as_user "$bin/pg_ctl" -D "$folder/data" -l "$folder/server.log" -w -t 60 \
    -o "-c listen_addresses= -c unix_socket_directories=$folder -c fsync=on -c max_connections=400" start >/dev/null ||
    { cat "$folder/server.log" >&2; exit 1; }
cd "$OLDPWD"

encoded=$(printf '%s' "$folder" | sed 's,/,%2F,g')
SAUTI_TEST_POSTGRES_URL="postgres://sauti@$encoded/postgres" "$@"
