; what master files may have, in one place

	 ; a comment behind blanks
$TTL 1h30m
@	SOA	ns hostmaster ( 2026010101 ; serial
	1d 2h
	( 4w ) 5m )
	; blank owners are that of the SOA still
		NS ns
	5400 IN	NS ns2.example.net.
ns	A 192.0.2.7
@ IN 61 HINFO "PC" "Linux"
  61 IN TXT "semi;colon" (
   "paren)thesis"   ; comment "with quotes
   \; bare\ word \065\"
  )
$ORIGIN sub
a	A 192.0.2.1
@	A 192.0.2.2
$ORIGIN deeper.sub.example.com.
b IN A 192.0.2.3
$ttl 2w
c.example.com. A 192.0.2.4
in IN A 192.0.2.5
a.txt 5 TXT @
txt TXT TXT
*.w\105ld CNAME @
60 60 A 192.0.2.6
$ORIGIN .
example.com 9 MX 0 mail.example.com
e.example.com 1w2d3h4m5s HTTPS 1 . alpn="h2,h3" port=8443
