#!/bin/sh
# An authority, and a certificate of it for PostgreSQL and for Valkey, into the directory that is named. What is there stays.
set -eu
cd "$1"
[ -e ca.pem ] && exit 0

curve='-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'
openssl req -x509 $curve -days 3650 -subj '/CN=spgw cluster' -keyout ca.key -out ca.new
for name in postgres valkey; do
  openssl req $curve -subj "/CN=$name" -keyout $name.key -out $name.csr
  printf 'subjectAltName=DNS:%s\n' $name > $name.ext
  openssl x509 -req -in $name.csr -CA ca.new -CAkey ca.key -CAcreateserial -days 3650 -extfile $name.ext -out $name.pem
  chmod 600 $name.key
  # Both images run their server as this user.
  [ "$(id -u)" != 0 ] || chown 999:999 $name.key
done
rm -f ca.key ./*.csr ./*.ext ./*.srl
chmod 644 ./*.pem
mv ca.new ca.pem
chmod 644 ca.pem
