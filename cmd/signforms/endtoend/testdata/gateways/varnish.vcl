# Varnish with its default rules, which cache a GET for two minutes if the service does not forbid it. SERVICE and RECEIVER are ports.
vcl 4.1;
backend service { .host = "127.0.0.1"; .port = "SERVICE"; }
backend receiver { .host = "127.0.0.1"; .port = "RECEIVER"; }
sub vcl_recv {
	if (req.url ~ "^/hook") {
		set req.backend_hint = receiver;
	} else {
		set req.backend_hint = service;
	}
}
