/*
 * Files of an HTTP server.  The device path of the application names its URL
 * and the machine's address.  An answer that is not the whole file is an error
 * that says why.
 */
#include "tests/lib/host/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boot/efi.h"
#include "boot/efi_http.h"
#include "tests/lib/host/fake_efi.h"

/* The server and the firmware's client. */
static struct {
	const char *url;     /* of the only file */
	const char *content; /* NULL: the answer has no length */
	enum http_status other_status;
	bool silent, no_connection, short_body, damaged_length;
	char asked[8][EFI_PATH_MAX], host[EFI_PATH_MAX];
	unsigned nasked;
	size_t at; /* in content */
	struct http_ipv4 ipv4;
	unsigned children, events, allocated, cancelled;
} server;

static struct http_token *pending; /* until the next poll */
static EFI_EVENT_NOTIFY notify;
static void *notified;
static jmp_buf failed;
static char said[256];

/* The device path, and the answer of a request. */
static unsigned char path[EFI_PATH_MAX + 64];
static bool found;

static EFI_LOADED_IMAGE_PROTOCOL self;
EFI_LOADED_IMAGE_PROTOCOL *efi_self = &self;

void
efi_fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(said, sizeof said, fmt, ap);
	va_end(ap);
	longjmp(failed, 1);
}

void
efi_say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(said, sizeof said, fmt, ap);
	va_end(ap);
}

static void *
allocated(const char *s)
{
	server.allocated++;
	return strdup(s);
}

static EFI_STATUS EFIAPI
free_pool(void *p)
{
	server.allocated--;
	free(p);
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
configure(struct http *http, struct http_config *config)
{
	(void)http;
	assert_int_equal(config->version, HTTP_1_1);
	server.ipv4 = *config->ipv4;
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
request(struct http *http, struct http_token *t)
{
	const struct http_request *r = t->message->data.request;
	char *url = server.asked[server.nasked++];

	(void)http;
	if (server.no_connection)
		return EFI_NOT_FOUND;
	memset(url, 0, sizeof server.asked[0]);
	for (size_t i = 0; r->url[i] != 0; i++)
		url[i] = (char)r->url[i];
	for (size_t i = 0; i < t->message->nheaders; i++) {
		if (strcmp((char *)t->message->headers[i].name, "Host") == 0)
			strcpy(
			    server.host, (char *)t->message->headers[i].value);
	}
	found = strcmp(url, server.url) == 0;
	server.at = 0;
	t->status = EFI_SUCCESS;
	pending = t;
	return EFI_SUCCESS;
}

static void
give_headers(struct http_message *m)
{
	char length[24];
	bool known = found && server.content != NULL;

	m->headers = calloc(2, sizeof *m->headers);
	server.allocated++;
	m->headers[m->nheaders++] =
	    (struct http_header){ allocated("Server "), allocated("test") };
	if (!known)
		return;
	snprintf(length, sizeof length, "%zu%s", strlen(server.content),
	    server.damaged_length ? "x" : "");
	m->headers[m->nheaders++] =
	    (struct http_header){ allocated("content-length"),
		    allocated(length) };
}

static EFI_STATUS EFIAPI
response(struct http *http, struct http_token *t)
{
	struct http_message *m = t->message;
	size_t n;

	(void)http;
	if (server.silent)
		return EFI_SUCCESS;
	t->status = EFI_SUCCESS;
	pending = t;
	if (m->data.response != NULL) {
		m->data.response->status = server.other_status
		                               ? server.other_status
		                           : found ? HTTP_200_OK
		                                   : HTTP_404;
		if (m->data.response->status >= HTTP_403)
			t->status = HTTP_ERROR;
		give_headers(m);
		return EFI_SUCCESS;
	}
	/* Three bytes a packet. */
	n = strlen(server.content) - server.at;
	if (n > 3)
		n = 3;
	assert_true(n <= m->bytes);
	if (server.short_body && server.at > 0)
		t->status = EFI_DEVICE_ERROR;
	memcpy(m->body, server.content + server.at, n);
	server.at += m->bytes = n;
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
cancel(struct http *http, struct http_token *t)
{
	(void)http;
	(void)t;
	server.cancelled++;
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
poll_client(struct http *http)
{
	(void)http;
	if (pending != NULL)
		notify(pending->event, notified);
	pending = NULL;
	return EFI_SUCCESS;
}

static struct http client = { NULL, configure, request, cancel, response,
	poll_client };

static EFI_STATUS EFIAPI
create_child(struct _EFI_SERVICE_BINDING *binding, EFI_HANDLE *child)
{
	(void)binding;
	server.children++;
	*child = &client;
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
destroy_child(struct _EFI_SERVICE_BINDING *binding, EFI_HANDLE child)
{
	(void)binding;
	assert_ptr_equal(child, &client);
	server.children--;
	return EFI_SUCCESS;
}

static EFI_SERVICE_BINDING card = { create_child, destroy_child };

static EFI_STATUS EFIAPI
handle_protocol(EFI_HANDLE handle, EFI_GUID *guid, void **to)
{
	(void)guid;
	*to = handle == &self ? (void *)path : handle;
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
locate_device_path(EFI_GUID *guid, EFI_DEVICE_PATH **rest, EFI_HANDLE *handle)
{
	(void)guid;
	(void)rest;
	*handle = &card;
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
create_event(UINT32 type, EFI_TPL tpl, EFI_EVENT_NOTIFY call, void *arg,
    EFI_EVENT *event)
{
	assert_int_equal(type, EVT_NOTIFY_SIGNAL);
	assert_true(tpl <= TPL_CALLBACK);
	notify = call;
	notified = arg;
	*event = &notify;
	server.events++;
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
close_event(EFI_EVENT event)
{
	assert_ptr_equal(event, &notify);
	server.events--;
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI
stall(UINTN us)
{
	(void)us;
	return EFI_SUCCESS;
}

/* A node of a device path.  Returns the offset of its end. */
static size_t
put_node(size_t at, unsigned type, unsigned subtype, const void *data, size_t n)
{
	path[at] = (unsigned char)type;
	path[at + 1] = (unsigned char)subtype;
	path[at + 2] = (unsigned char)(n + 4);
	path[at + 3] = (unsigned char)((n + 4) >> 8);
	memcpy(path + at + 4, data, n);
	return at + 4 + n;
}

/* Firmware has started the application from this URL. */
static void
start(const char *url)
{
	static const unsigned char ipv4[23] = { 10, 0, 2, 15, [19] = 255, 255,
		255, 0 };
	size_t at = 0;

	memset(&server, 0, sizeof server);
	pending = NULL;
	memset(said, 0, sizeof said);
	fake_services.HandleProtocol = handle_protocol;
	fake_services.LocateDevicePath = locate_device_path;
	fake_services.CreateEvent = create_event;
	fake_services.CloseEvent = close_event;
	fake_services.FreePool = free_pool;
	fake_services.Stall = stall;
	self.DeviceHandle = &self;
	at = put_node(at, MESSAGING_DEVICE_PATH, MSG_MAC_ADDR_DP, "card", 4);
	at = put_node(at, MESSAGING_DEVICE_PATH, MSG_IPv4_DP, ipv4, 23);
	if (url != NULL)
		at = put_node(
		    at, MESSAGING_DEVICE_PATH, MSG_URI_DP, url, strlen(url));
	put_node(
	    at, END_DEVICE_PATH_TYPE, END_ENTIRE_DEVICE_PATH_SUBTYPE, "", 0);
}

/* The server has this file only.  Is it fetched by the name? */
static bool
is_fetched(const char *url, const char *name)
{
	size_t bytes;
	char *got;
	bool right;

	server.url = url;
	server.content = "output=text\n";
	server.nasked = 0;
	got = efi_http_file(name, &bytes);
	right = got != NULL && bytes == strlen(server.content) &&
	        memcmp(got, server.content, bytes) == 0;
	assert_true(right || got == NULL);
	fake_efi_free();
	assert_int_equal(server.children, 0);
	assert_int_equal(server.events, 0);
	assert_int_equal(server.allocated, 0);
	return right;
}

static void
folder_then_root(void **state)
{
	(void)state;
	start("http://10.0.2.2:80/boot/x64/BOOTX64.EFI");
	assert_true(is_fetched(
	    "http://10.0.2.2:80/boot/x64/barecpc.cfg", "barecpc.cfg"));
	assert_string_equal(server.host, "10.0.2.2:80");
	assert_true(
	    is_fetched("http://10.0.2.2:80/barecpc.cfg", "barecpc.cfg"));
	assert_int_equal(server.nasked, 2);
	assert_true(is_fetched("http://10.0.2.2:80/a/b", "/a/b"));
	assert_true(is_fetched("http://10.0.2.2:80/a/b", "\\a/b"));
	assert_int_equal(server.nasked, 1);
	assert_false(is_fetched("http://10.0.2.2:80/other", "barecpc.cfg"));
	assert_string_equal(
	    server.asked[0], "http://10.0.2.2:80/boot/x64/barecpc.cfg");
	assert_string_equal(server.asked[1], "http://10.0.2.2:80/barecpc.cfg");
}

static void
shapes_of_a_url(void **state)
{
	char url[EFI_PATH_MAX + 1];

	(void)state;
	start("https://boot/BOOTX64.EFI?for=a/b");
	assert_true(is_fetched("https://boot/x", "x"));
	assert_string_equal(server.host, "boot");
	assert_int_equal(server.nasked, 1); /* the folder is the root */
	start("http://boot");
	assert_true(is_fetched("http://boot/x", "x"));
	start("boot");
	assert_false(is_fetched("http://boot/x", "x"));
	start("");
	assert_false(is_fetched("http://boot/x", "x"));
	start(NULL);
	assert_false(is_fetched("http://boot/x", "x"));
	memset(url, 'a', sizeof url);
	memcpy(url, "http://", 7);
	url[EFI_PATH_MAX] = '\0';
	start(url); /* too long */
	assert_false(is_fetched("http://boot/x", "x"));
	url[EFI_PATH_MAX - 1] = '\0';
	start(url); /* with the name it is too long */
	assert_false(is_fetched("http://boot/x", "x"));
	assert_int_equal(server.nasked, 0);
}

static void
address_of_the_machine(void **state)
{
	(void)state;
	start("http://boot/BOOTX64.EFI");
	assert_true(is_fetched("http://boot/x", "x"));
	assert_false(server.ipv4.use_default);
	assert_memory_equal(&server.ipv4.address, "\12\0\2\17", 4);
	assert_memory_equal(&server.ipv4.subnet, "\377\377\377\0", 4);
	path[8 + 1] = 0x7f; /* another node */
	assert_true(is_fetched("http://boot/x", "x"));
	assert_true(server.ipv4.use_default);
	path[8 + 1] = MSG_IPv6_DP;
	assert_false(is_fetched("http://boot/x", "x"));
	assert_string_equal(said,
	    "x is not looked for on the server: HTTP boot over IPv6 is not "
	    "supported");
	path[8 + 2] = path[8 + 3] = 0; /* a node without length */
	assert_false(is_fetched("http://boot/x", "x"));
}

/* Fetch a file.  Returns what the failure says. */
static const char *
failure(void)
{
	size_t bytes;

	server.url = "http://boot/x";
	if (setjmp(failed) == 0)
		efi_http_file("x", &bytes);
	fake_efi_free();
	return said;
}

static void
errors(void **state)
{
	(void)state;
	start("http://boot/BOOTX64.EFI");
	server.content = "text";
	server.other_status = 32;
	assert_string_equal(failure(),
	    "cannot fetch http://boot/x: the server answers with an error "
	    "(EFI_HTTP_STATUS_CODE 32): see its log");
	start("http://boot/BOOTX64.EFI");
	assert_string_equal(failure(),
	    "cannot fetch http://boot/x: the server's answer has no "
	    "Content-Length: serve it as a plain file");
	start("http://boot/BOOTX64.EFI");
	server.content = "text";
	server.damaged_length = true;
	assert_non_null(strstr(failure(), "has no Content-Length"));
	start("http://boot/BOOTX64.EFI");
	server.content = "text";
	server.short_body = true;
	assert_string_equal(failure(),
	    "cannot fetch http://boot/x: the connection ended after 3 of 4 "
	    "bytes");
	start("http://boot/BOOTX64.EFI");
	server.silent = true;
	assert_non_null(strstr(failure(), "the server does not answer"));
	assert_int_equal(server.cancelled, 1);
	start("http://boot/BOOTX64.EFI");
	server.no_connection = true;
	assert_non_null(strstr(failure(), "the server is not reached"));
}

static void
absent_or_empty(void **state)
{
	size_t bytes;

	(void)state;
	start("http://boot/BOOTX64.EFI");
	server.other_status = HTTP_403;
	assert_false(is_fetched("http://boot/x", "x"));
	start("http://boot/BOOTX64.EFI");
	server.url = "http://boot/x";
	server.content = "";
	assert_null(efi_http_file("x", &bytes));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folder_then_root),
		cmocka_unit_test(shapes_of_a_url),
		cmocka_unit_test(address_of_the_machine),
		cmocka_unit_test(errors),
		cmocka_unit_test(absent_or_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
