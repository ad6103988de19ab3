/*
 * Each driver prints on a model of its UART, and receives from it.  A model
 * prints a character only if the driver turned it on and waited for room.  The
 * driver must write the registers that the manual names, by their width.
 */
#include "tests/lib/host/support.h"

#include <stdio.h>
#include <string.h>

#include "dev/uart/uart.h"

#define POLLS 3 /* a character leaves after so many reads of the status */

const bool uart_has_ports = true;

static struct {
	uint32_t reg[0x1000 / 4];
	unsigned busy;    /* polls until there is room */
	unsigned hold;    /* 16550: reads until LCR takes a value */
	bool no_scratch;  /* 16550: another device */
	bool nothing;     /* no device answers */
	uint32_t count;   /* Qualcomm: characters announced */
	uint32_t divisor; /* 16550 */
	uint32_t control, status, seen; /* SCIF: SCSCR, SCFSR, as last read */
	int input; /* a character that has arrived, or -1 */
	char out[16];
	size_t nout;
} dev;

/* The numbers of the manuals: where what is, and the status with its bits. */
static const struct fifo_model {
	enum uart_kind kind;
	unsigned send, receive, status;
	uint32_t full, room, empty, arrived; /* values of the status */
	unsigned on_at;
	uint32_t on_mask, on; /* bits without which nothing is sent */
} fifo_models[] = {
	{ UART_PL011, 0x00, 0x00, 0x18, 0x20, 0, 0x10, 0, 0x30, 0x301, 0x301 },
	{ UART_SBSA, 0x00, 0x00, 0x18, 0x20, 0, 0x10, 0, 0, 0, 0 },
	{ UART_CADENCE, 0x30, 0x30, 0x2c, 0x10, 0, 0x02, 0, 0x00, 0x3c, 0x14 },
	{ UART_IMX, 0x40, 0x00, 0xb4, 0x10, 0, 0x20, 0, 0x84, 0x7, 0x7 },
	{ UART_LPUART, 0x1c, 0x1c, 0x14, 0, 1 << 23, 0, 1 << 21, 0x18, 3 << 18,
	    3 << 18 },
	{ UART_MESON, 0x00, 0x04, 0x0c, 1 << 21, 0, 1 << 20, 0, 0x08, 3 << 12,
	    3 << 12 },
	{ UART_ARMADA, 0x04, 0x00, 0x0c, 1 << 11, 0, 0, 1 << 4, 0, 0, 0 },
};

static const struct fifo_model *
model_of(enum uart_kind kind)
{
	for (unsigned i = 0; i < sizeof fifo_models / sizeof *fifo_models; i++)
		if (fifo_models[i].kind == kind)
			return &fifo_models[i];
	return NULL;
}

static void
print_char(uint32_t c)
{
	assert_int_equal(dev.busy, 0);
	assert_true(dev.nout < sizeof dev.out - 1);
	dev.out[dev.nout++] = (char)c;
	dev.busy = POLLS;
}

static bool
has_room(void)
{
	if (dev.busy > 0)
		dev.busy--;
	return dev.busy == 0;
}

static uint32_t
take_char(void)
{
	uint32_t c = (uint32_t)dev.input & 0xff;

	dev.input = -1;
	return c;
}

static uint32_t
ns16550_read(unsigned r)
{
	bool dlab = (dev.reg[3] & 0x80) != 0;

	if (r == 0 && !dlab && dev.hold > 0)
		dev.hold--;
	switch (r) {
	case 0:
		return dlab ? dev.divisor & 0xff : take_char();
	case 5:
		return (has_room() ? 0x20 : 0) | (dev.input >= 0 ? 1 : 0);
	case 7:
		return dev.no_scratch ? 0 : dev.reg[7];
	default:
		return dev.reg[r];
	}
}

static void
ns16550_write(unsigned r, uint32_t v)
{
	bool dlab = (dev.reg[3] & 0x80) != 0;

	if (dlab && r < 2) {
		dev.divisor &= r == 0 ? 0xff00 : 0x00ff;
		dev.divisor |= r == 0 ? v : v << 8;
	} else if (r == 0) {
		assert_int_equal(dev.reg[3], 3);
		print_char(v);
	} else if (r != 3 || dev.hold == 0) {
		dev.reg[r] = v;
	}
}

static uint32_t
qcom_read(enum uart_kind kind, unsigned offset)
{
	if (kind == UART_GENI && offset == 0x40)
		return !has_room();
	if (kind == UART_UARTDM && offset == 0xa4)
		return has_room() ? 8 : 0;
	return dev.reg[offset / 4];
}

static void
qcom_write(enum uart_kind kind, unsigned offset, uint32_t v)
{
	dev.reg[offset / 4] = v;
	if (kind == UART_GENI && offset == 0x600 && v == 1U << 27)
		dev.count = dev.reg[0x270 / 4];
	if (kind == UART_UARTDM && offset == 0x40)
		dev.count = v;
	if (offset == (kind == UART_GENI ? 0x700 : 0x100)) {
		assert_int_equal(dev.count, 1);
		dev.count = 0;
		print_char(v);
	}
}

static bool
is_scif(const struct uart *u)
{
	return u->u_kind == UART_SCIF || u->u_kind == UART_SCIF_RZ;
}

/* Data has registers of 8 bits, the rest of 16. */
static unsigned
scif_register(const struct uart *u, unsigned offset)
{
	unsigned r = offset >> u->u_shift;

	assert_int_equal(u->u_width, r == 3 || r == 5 ? 1 : 2);
	return r;
}

static uint32_t
scif_read(unsigned r)
{
	if (r == 2)
		return dev.control;
	if (r == 5)
		return take_char();
	assert_int_equal(r, 4);
	if (has_room())
		dev.status |= 0x60;
	if (dev.input >= 0)
		dev.status |= 1;
	return dev.seen = dev.status;
}

/* A bit of the status is cleared by 0, if it was read as 1. */
static void
scif_write(unsigned r, uint32_t v)
{
	if (r == 2) {
		dev.control = v;
	} else if (r == 3) {
		assert_int_equal(dev.control & 0x30, 0x30);
		assert_int_equal(dev.status & 0x20, 0x20);
		dev.status &= ~0x40U;
		print_char(v);
	} else {
		assert_int_equal(r, 4);
		dev.status &= v | ~dev.seen;
	}
}

uint32_t
uart_read(const struct uart *u, unsigned offset)
{
	const struct fifo_model *m = model_of(u->u_kind);

	if (dev.nothing)
		return 0xffffffff >> (32 - 8 * u->u_width);
	assert_true(offset < uart_bytes(u));
	assert_int_equal(offset % u->u_width, 0);
	if (u->u_kind <= UART_BCM_AUX)
		return ns16550_read(offset >> u->u_shift);
	if (is_scif(u))
		return scif_read(scif_register(u, offset));
	if (m == NULL)
		return qcom_read(u->u_kind, offset);
	if (offset == m->status)
		return (has_room() ? m->room : m->full) |
		       (dev.input >= 0 ? m->arrived : m->empty);
	if (offset == m->receive && dev.input >= 0)
		return take_char() | 0x8000; /* i.MX: CHARRDY */
	return dev.reg[offset / 4];
}

void
uart_write(const struct uart *u, unsigned offset, uint32_t v)
{
	const struct fifo_model *m = model_of(u->u_kind);

	assert_true(offset < uart_bytes(u));
	assert_int_equal(offset % u->u_width, 0);
	if (u->u_kind <= UART_BCM_AUX) {
		assert_int_equal(offset % (1U << u->u_shift), 0);
		ns16550_write(offset >> u->u_shift, v);
	} else if (is_scif(u)) {
		scif_write(scif_register(u, offset), v);
	} else if (m == NULL) {
		qcom_write(u->u_kind, offset, v);
	} else if (offset == m->send) {
		assert_int_equal(dev.reg[m->on_at / 4] & m->on_mask, m->on);
		print_char(v);
	} else {
		dev.reg[offset / 4] = v;
	}
}

/* A device that is off, as after a reset. */
static void
reset_device(void)
{
	memset(&dev, 0, sizeof dev);
	dev.input = -1;
	dev.reg[0] = 0x28; /* Cadence: sender and receiver disabled */
}

static void
print_text(const struct uart *u, const char *text)
{
	for (; *text != '\0'; text++) {
		unsigned n = 0;

		while (!uart_has_room(u))
			assert_true(++n < 10);
		uart_send(u, (unsigned char)*text);
	}
}

TEST(every_kind_prints)
{
	for (enum uart_kind k = UART_NONE + 1; k < UART_KINDS; k++) {
		struct uart u = uart_make(k, 0x1000);

		reset_device();
		assert_true(uart_start(&u));
		print_text(&u, "ok\xff\n");
		assert_string_equal(dev.out, "ok\xff\n");
	}
}

/* Qualcomm's drivers send only. */
TEST(every_kind_receives)
{
	for (enum uart_kind k = UART_NONE + 1; k < UART_GENI; k++) {
		struct uart u = uart_make(k, 0x1000);

		reset_device();
		dev.input = 'w';
		assert_int_equal(uart_receive(&u), -1); /* not started */
		dev.input = -1;
		assert_true(uart_start(&u));
		assert_int_equal(uart_receive(&u), -1);
		dev.input = 'x';
		assert_int_equal(uart_receive(&u), 'x');
		assert_int_equal(uart_receive(&u), -1);
	}
}

/* Without a device all bits are 1.  The mini UART cannot be recognised. */
TEST(no_device)
{
	for (enum uart_kind k = UART_NONE + 1; k < UART_KINDS; k++) {
		struct uart u = uart_make(k, 0x1000);

		reset_device();
		dev.nothing = true;
		if (k <= UART_16550_32) {
			dev.nothing = false;
			dev.no_scratch = true;
		}
		if (k != UART_BCM_AUX)
			assert_false(uart_start(&u));
	}
}

/* A UART that firmware turned on keeps its settings. */
TEST(settings_remain)
{
	struct uart u = uart_make(UART_PL011, 0x1000);

	reset_device();
	dev.reg[0x30 / 4] = 0x301;
	dev.reg[0x2c / 4] = 0x60;
	assert_true(uart_start(&u));
	assert_int_equal(dev.reg[0x2c / 4], 0x60);
	dev.reg[0x30 / 4] = 0x300;
	assert_true(uart_start(&u));
	assert_int_equal(dev.reg[0x2c / 4], 0x70);
	assert_int_equal(dev.reg[0x30 / 4], 0x301);
}

TEST(rates_of_a_16550)
{
	static const struct {
		uint32_t clock, baud, divisor;
	} cases[] = {
		{ 1843200, 115200, 1 }, { 1843200, 9600, 12 },
		{ 1843200, 300, 384 }, { 24000000, 1500000, 1 },
		{ 48000000, 115200, 26 },
		{ 1843200, 0, 0x1234 },     /* none asked for: it remains */
		{ 0, 115200, 0x1234 },      /* unknown clock */
		{ 4000000000U, 1, 0x1234 }, /* beyond 16 bits */
		{ 1843200, ~0U, 0x1234 },   /* the divisor would be 0 */
	};

	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct uart u = uart_make(UART_16550_32, 0x1000);

		reset_device();
		dev.divisor = 0x1234;
		u.u_clock_hz = cases[i].clock;
		u.u_baud = cases[i].baud;
		assert_true(uart_start(&u));
		assert_int_equal(dev.divisor, cases[i].divisor);
		assert_int_equal(dev.reg[3], 3);
		assert_int_equal(dev.reg[1], 0);
		assert_int_equal(dev.reg[4], 3);
	}
}

/* DesignWare's UART ignores LCR until the characters in its FIFO are read. */
TEST(busy_designware)
{
	struct uart u = uart_make(UART_16550_32, 0x1000);

	reset_device();
	dev.reg[3] = 0x1b; /* even parity */
	dev.hold = 16;
	u.u_clock_hz = 1843200;
	u.u_baud = 9600;
	assert_true(uart_start(&u));
	assert_int_equal(dev.hold, 0);
	assert_int_equal(dev.divisor, 12);
	print_text(&u, "quirk");
	assert_string_equal(dev.out, "quirk");
	/* One that stays busy must not be given a divisor as characters. */
	reset_device();
	dev.reg[3] = 3;
	dev.hold = ~0U;
	assert_true(uart_start(&u));
	assert_int_equal(dev.nout, 0);
}

TEST(texts_of_the_command_line)
{
	static const struct {
		const char *text;
		enum uart_kind kind;
		uint64_t addr;
		uint32_t baud;
		const char *why;
	} cases[] = {
		{ "16550-io,0x2f8", UART_16550_IO, 0x2f8, 0, NULL },
		{ "16550-io,0x2f8,9600", UART_16550_IO, 0x2f8, 9600, NULL },
		{ "16550,0x40001000", UART_16550, 0x40001000, 0, NULL },
		{ "16550-mmio32,0xfe201000,1500000", UART_16550_32, 0xfe201000,
		    1500000, NULL },
		{ "pl011,150994944", UART_PL011, 0x9000000, 0, NULL },
		{ "geni,0xa90000", UART_GENI, 0xa90000, 0, NULL },
		{ "scif,0xe6e88000", UART_SCIF, 0xe6e88000, 0, NULL },
		{ "", 0, 0, 0, "no TYPE" },
		{ "8250,0x3f8", 0, 0, 0, "no TYPE" },
		{ "16550-i,0x3f8", 0, 0, 0, "no TYPE" },
		{ "pl011", 0, 0, 0, "not TYPE,ADDRESS" },
		{ "pl011,", 0, 0, 0, "not TYPE,ADDRESS" },
		{ "pl011,-4", 0, 0, 0, "not TYPE,ADDRESS" },
		{ "pl011,9000000h", 0, 0, 0, "not TYPE,ADDRESS" },
		{ "pl011,0", 0, 0, 0, "cannot be at this address" },
		{ "pl011,0x9000001", 0, 0, 0, "cannot be at this address" },
		{ "16550-io,0xfff9", 0, 0, 0, "cannot be at this address" },
		{ "16550,0x1000,", 0, 0, 0, "not a BAUD" },
		{ "16550,0x1000,0", 0, 0, 0, "not a BAUD" },
		{ "16550,0x1000,9600n8", 0, 0, 0, "not a BAUD" },
		{ "16550,0x1000,9600,1", 0, 0, 0, "not a BAUD" },
		{ "16550,0x1000,4000001", 0, 0, 0, "not a BAUD" },
		{ "pl011,0x1000,9600", 0, 0, 0, "only the rate of a 16550" },
	};

	for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct uart u = { 0 };
		const char *why = uart_parse(cases[i].text, &u);

		assert_int_equal(u.u_kind, cases[i].kind);
		assert_int_equal(u.u_addr, cases[i].addr);
		assert_int_equal(u.u_baud, cases[i].baud);
		if (cases[i].why == NULL)
			assert_null(why);
		else
			assert_non_null(strstr(why, cases[i].why));
	}
}

/* The error text lists every type. */
TEST(names_of_types)
{
	struct uart u;
	const char *why = uart_parse("vt100,0", &u);

	for (enum uart_kind k = UART_NONE + 1; k < UART_KINDS; k++) {
		char word[32];

		snprintf(word, sizeof word, " %s", uart_types[k].ut_name);
		assert_non_null(strstr(why, word));
	}
}
