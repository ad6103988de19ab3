/*
 * UEFI, "EFI HTTP Protocols": what boot/efi_http.c uses.  gnu-efi has no
 * header for them.  Included by boot/efi_http.c and its tests only.
 */
#ifndef BOOT_EFI_HTTP_H
#define BOOT_EFI_HTTP_H

#include <efi.h>

/* "EFI_HTTP_SERVICE_BINDING_PROTOCOL": makes and removes clients. */
#define HTTP_BINDING_GUID                                                      \
	{                                                                      \
		0xbdc8e6af, 0xd9bc, 0x4379,                                    \
		{                                                              \
			0xa7, 0x2a, 0xe0, 0xc4, 0xe7, 0x5d, 0xae, 0x1c         \
		}                                                              \
	}
/* "EFI_HTTP_PROTOCOL". */
#define HTTP_GUID                                                              \
	{                                                                      \
		0x7a59b29b, 0x910b, 0x4171,                                    \
		{                                                              \
			0x82, 0x42, 0xa8, 0x5a, 0x0d, 0xf2, 0x5b, 0x5b         \
		}                                                              \
	}

/* "Status Codes": the answer has a status of 400 or more. */
#define HTTP_ERROR EFIERR(35)

/* "EFI_HTTP_PROTOCOL.Configure()". */
struct http_ipv4 {
	BOOLEAN use_default;
	EFI_IPv4_ADDRESS address;
	EFI_IPv4_ADDRESS subnet;
	UINT16 port; /* 0: any */
};

enum http_version { HTTP_1_0, HTTP_1_1 };

struct http_config {
	enum http_version version;
	UINT32 timeout_ms; /* 0: the driver's */
	BOOLEAN is_ipv6;
	struct http_ipv4 *ipv4;
};

/* "EFI_HTTP_PROTOCOL.Request()". */
enum http_method { HTTP_GET };

struct http_request {
	enum http_method method;
	CHAR16 *url;
};

/* EFI_HTTP_STATUS_CODE: a number of its own for each status. */
enum http_status { HTTP_200_OK = 3, HTTP_403 = 20, HTTP_404 = 21 };

struct http_response {
	enum http_status status;
};

struct http_header {
	CHAR8 *name;
	CHAR8 *value;
};

struct http_message {
	union {
		struct http_request *request;
		struct http_response *response; /* NULL: more of the body */
	} data;
	UINTN nheaders;
	struct http_header *headers; /* an answer's: allocated by the driver */
	UINTN bytes;                 /* of body; room, then what came */
	void *body;
};

struct http_token {
	EFI_EVENT event; /* EVT_NOTIFY_SIGNAL */
	EFI_STATUS status;
	struct http_message *message;
};

struct http;
typedef EFI_STATUS(EFIAPI *http_call)(
    struct http *self, struct http_token *token);

struct http {
	void *get_mode_data;
	EFI_STATUS(EFIAPI *configure)
	(struct http *self, struct http_config *config);
	http_call request;
	http_call cancel;
	http_call response;
	EFI_STATUS(EFIAPI *poll)(struct http *self);
};

#endif /* BOOT_EFI_HTTP_H */
