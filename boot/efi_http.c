/*
 * Reads files of the HTTP server that the UEFI application came from.
 *
 * UEFI, "EFI HTTP Protocols", "HTTP Boot".
 */
#include "boot/efi_http.h"

#include "boot/efi.h"
#include "lib/string.h"

/* The node of the device path; its C type has a byte more. */
#define IPV4_NODE_BYTES 27

#define POLL_US   10
#define POLLS_MAX 3000000 /* 30 s without an answer */

/* A connection to the server.  Each file has its own. */
struct client {
	EFI_SERVICE_BINDING *binding;
	EFI_HANDLE child;
	struct http *http;
	EFI_EVENT event;
	volatile bool done; /* by the event */
};

static struct http_ipv4 ipv4;
static char boot_url[EFI_PATH_MAX]; /* of this application */

/* Keep the URL and this machine's address.  Returns false without a URL. */
static bool
find_server(const char *name)
{
	static EFI_GUID guid = DEVICE_PATH_PROTOCOL;
	EFI_DEVICE_PATH *node;
	bool ipv6 = false;
	size_t n;

	boot_url[0] = '\0';
	ipv4 = (struct http_ipv4){ .use_default = TRUE };
	if (efi_self->DeviceHandle == NULL ||
	    EFI_ERROR(efi_bs->HandleProtocol(
		efi_self->DeviceHandle, &guid, (void **)&node)))
		return false;
	for (; !IsDevicePathEnd(node); node = NextDevicePathNode(node)) {
		n = (size_t)DevicePathNodeLength(node);
		if (n < sizeof *node)
			return false;
		if (DevicePathType(node) != MESSAGING_DEVICE_PATH)
			continue;
		if (DevicePathSubType(node) == MSG_IPv4_DP &&
		    n >= IPV4_NODE_BYTES) {
			const IPv4_DEVICE_PATH *ip = (IPv4_DEVICE_PATH *)node;

			ipv4 = (struct http_ipv4){
				.address = ip->LocalIpAddress,
				.subnet = ip->SubnetMask,
			};
		} else if (DevicePathSubType(node) == MSG_IPv6_DP) {
			ipv6 = true;
		} else if (DevicePathSubType(node) == MSG_URI_DP) {
			n -= sizeof *node;
			if (n >= sizeof boot_url)
				return false;
			memcpy(boot_url, node + 1, n);
			boot_url[n] = '\0';
		}
	}
	if (ipv6 && boot_url[0] != '\0')
		efi_say("%s is not looked for on the server: HTTP boot over "
			"IPv6 is not supported",
		    name);
	return boot_url[0] != '\0' && !ipv6;
}

/* Returns the place of the host's name in the URL, or NULL.  RFC 3986,
 * "Authority". */
static char *
host_of(char *url)
{
	char *slash = strchr(url, '/');

	return slash != NULL && slash[1] == '/' ? slash + 2 : NULL;
}

/*
 * Put the URL of a file into url: in the folder of this application, or in the
 * server's root.  Returns false if it is too long.
 */
static bool
url_of(char url[EFI_PATH_MAX], const char *name, bool in_root)
{
	size_t n;
	char *host, *end;

	strlcpy(url, boot_url, EFI_PATH_MAX);
	host = host_of(url);
	if (host == NULL)
		return false;
	/* A query may contain slashes. */
	if ((end = strchr(host, '?')) != NULL)
		*end = '\0';
	end = in_root ? strchr(host, '/') : strrchr(host, '/');
	n = end != NULL ? (size_t)(end - url) : strlen(url);
	if (n + 1 >= EFI_PATH_MAX)
		return false;
	url[n++] = '/';
	return strlcpy(url + n, name, EFI_PATH_MAX - n) < EFI_PATH_MAX - n;
}

static void EFIAPI
note_done(EFI_EVENT event, void *client)
{
	(void)event;
	((struct client *)client)->done = true;
}

static void
disconnect(struct client *c)
{
	if (c->event != NULL)
		efi_bs->CloseEvent(c->event);
	if (c->child != NULL)
		c->binding->DestroyChild(c->binding, c->child);
}

/* The card is the part of the device path that offers clients. */
static bool
connect(struct client *c)
{
	static EFI_GUID path_guid = DEVICE_PATH_PROTOCOL,
			binding_guid = HTTP_BINDING_GUID, guid = HTTP_GUID;
	struct http_config config = { HTTP_1_1, 0, FALSE, &ipv4 };
	EFI_DEVICE_PATH *path;
	EFI_HANDLE card;

	memset(c, 0, sizeof *c);
	if (!EFI_ERROR(efi_bs->HandleProtocol(
		efi_self->DeviceHandle, &path_guid, (void **)&path)) &&
	    !EFI_ERROR(efi_bs->LocateDevicePath(&binding_guid, &path, &card)) &&
	    !EFI_ERROR(efi_bs->HandleProtocol(
		card, &binding_guid, (void **)&c->binding)) &&
	    !EFI_ERROR(c->binding->CreateChild(c->binding, &c->child)) &&
	    !EFI_ERROR(
		efi_bs->HandleProtocol(c->child, &guid, (void **)&c->http)) &&
	    !EFI_ERROR(efi_bs->CreateEvent(
		EVT_NOTIFY_SIGNAL, TPL_CALLBACK, note_done, c, &c->event)) &&
	    !EFI_ERROR(c->http->configure(c->http, &config)))
		return true;
	disconnect(c);
	return false;
}

/* Let the driver work until the message is sent or received. */
static EFI_STATUS
exchange(struct client *c, http_call call, struct http_message *m)
{
	struct http_token t = { c->event, EFI_NOT_READY, m };
	EFI_STATUS err;

	c->done = false;
	err = call(c->http, &t);
	if (EFI_ERROR(err))
		return err;
	for (unsigned i = 0; !c->done; i++) {
		if (i == POLLS_MAX) {
			c->http->cancel(c->http, &t);
			return EFI_TIMEOUT;
		}
		c->http->poll(c->http);
		if (!c->done)
			efi_bs->Stall(POLL_US);
	}
	return t.status;
}

static EFI_STATUS
send_request(struct client *c, const char *url)
{
	static CHAR16 wide[EFI_PATH_MAX];
	static char host[EFI_PATH_MAX], host_name[] = "Host",
					accept_name[] = "Accept", any[] = "*/*";
	struct http_header headers[] = { { (CHAR8 *)host_name, (CHAR8 *)host },
		{ (CHAR8 *)accept_name, (CHAR8 *)any } };
	struct http_request request = { HTTP_GET, wide };
	struct http_message m = {
		.data.request = &request, .nheaders = 2, .headers = headers
	};
	size_t i = 0;

	do
		wide[i] = (unsigned char)url[i];
	while (url[i++] != '\0');
	strlcpy(host, url, sizeof host);
	strlcpy(host, host_of(host), sizeof host);
	*strchr(host, '/') = '\0';
	return exchange(c, c->http->request, &m);
}

static bool
same_name(const char *a, const char *b)
{
	while (*a != '\0' && *b != '\0' && (*a | 0x20) == (*b | 0x20)) {
		a++;
		b++;
	}
	return *a == *b;
}

/* The file's size in the headers, or ~0.  The headers are freed. */
static UINT64
take_size(struct http_message *m)
{
	UINT64 size = ~0ULL;

	for (UINTN i = 0; i < m->nheaders; i++) {
		struct http_header *h = &m->headers[i];
		const char *value = (const char *)h->value;
		char *end;

		if (same_name((const char *)h->name, "Content-Length")) {
			size = strtoul(value, &end, 10);
			if (end == value || *end != '\0')
				size = ~0ULL;
		}
		efi_bs->FreePool(h->name);
		efi_bs->FreePool(h->value);
	}
	if (m->headers != NULL)
		efi_bs->FreePool(m->headers);
	return size;
}

/* Wait for the answer's headers.  Returns the file's size; 0: no file. */
static UINT64
receive_size(struct client *c, const char *url)
{
	struct http_response response = { 0 };
	struct http_message m = { .data.response = &response };
	EFI_STATUS err = exchange(c, c->http->response, &m);
	UINT64 size = take_size(&m);

	if (err == HTTP_ERROR &&
	    (response.status == HTTP_404 || response.status == HTTP_403))
		return 0;
	if (err == HTTP_ERROR ||
	    (!EFI_ERROR(err) && response.status != HTTP_200_OK))
		efi_fail("cannot fetch %s: the server answers with an error "
			 "(EFI_HTTP_STATUS_CODE %d): see its log",
		    url, response.status);
	if (EFI_ERROR(err))
		efi_fail("cannot fetch %s: the server does not answer "
			 "(EFI_STATUS %#llx)",
		    url, (unsigned long long)err);
	if (size == ~0ULL)
		efi_fail("cannot fetch %s: the server's answer has no "
			 "Content-Length: serve it as a plain file",
		    url);
	return size;
}

static void
receive_body(struct client *c, const char *url, char *to, UINT64 size)
{
	struct http_message m;
	UINT64 got = 0;
	EFI_STATUS err;

	for (; got < size; got += m.bytes) {
		m = (struct http_message){ .bytes = size - got,
			.body = to + got };
		err = exchange(c, c->http->response, &m);
		if (EFI_ERROR(err) || m.bytes == 0 || m.bytes > size - got)
			efi_fail("cannot fetch %s: the connection ended after "
				 "%llu of %llu bytes",
			    url, (unsigned long long)got,
			    (unsigned long long)size);
	}
}

/* Returns NULL if there is no such file, or it is empty. */
static void *
fetch(const char *url, size_t *bytes)
{
	struct client c;
	void *buf = NULL;
	EFI_STATUS err;
	UINT64 size;

	if (!connect(&c))
		efi_fail("cannot fetch %s: firmware's HTTP client does not "
			 "start",
		    url);
	err = send_request(&c, url);
	if (EFI_ERROR(err))
		efi_fail("cannot fetch %s: the server is not reached "
			 "(EFI_STATUS %#llx)",
		    url, (unsigned long long)err);
	size = receive_size(&c, url);
	if (size > 0) {
		buf = efi_alloc(EfiLoaderData, size, EFI_PAGE, url);
		receive_body(&c, url, buf, size);
		*bytes = size;
	}
	disconnect(&c);
	return buf;
}

void *
efi_http_file(const char *name, size_t *bytes)
{
	static char url[EFI_PATH_MAX], root[EFI_PATH_MAX];
	bool only_root = *name == '/' || *name == '\\';
	void *buf = NULL;

	if (!find_server(name))
		return NULL;
	while (*name == '/' || *name == '\\')
		name++;
	if (!url_of(root, name, true))
		return NULL;
	if (!only_root && url_of(url, name, false) && strcmp(url, root) != 0)
		buf = fetch(url, bytes);
	return buf != NULL ? buf : fetch(root, bytes);
}
