/*
 * test_sha256.c: tests of SHA-256 on texts of FIPS 180-2, and on lengths around the ends of blocks
 * against sha256sum
 */
#include <string.h>

#include "check.h"

#include "contract/sha256.h"

#define MAX_BYTES 1000

/* A text, or NULL for the bytes i * 7 + nbytes; and its hash. */
typedef struct Known
{
	const char *text;
	size_t		nbytes;
	const char *digest;
} Known;

static const Known known[] = {
	{"", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
	{"abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
	{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
	"248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
	{NULL, 1, "4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a"},
	{NULL, 55, "81afe5b788dc2ce138ff83d9b20164db75a94d75d2b2432eea4a0ef605088c72"},
	{NULL, 56, "2aba54f0ac632420a2b502431408866e40e1d5e430df4cd822642c78ab2eb9c1"},
	{NULL, 63, "733d3d4ee79ee67145bf73da13588f6f235d37414fc64b14a2f00f1762792f5e"},
	{NULL, 64, "79322907b3e9d013d7dc2c2f256674dbf733045cde01df3539271c6f5605feb8"},
	{NULL, 65, "d85c007c6eb440f085afa2b84f6f2bce4658b240e9f62cb1364bf0485a57e720"},
	{NULL, 119, "6c87eedf096b345de205b702e5223b73b447a3207791ded3ea007ba15ed6736e"},
	{NULL, 120, "42500cf6a1e3936d6b9e0bcfe296d654b63255e525487d3634d0b15fde591c4d"},
	{NULL, 127, "68f6ff710276900c0ffbbc57426f67e00c2e01f0750c7edc25ac06b8ce7a8095"},
	{NULL, 128, "489d55fea9a73af36b6dd0be7b4117d8e5683386d39544e8a44c99a87f368707"},
	{NULL, 1000, "6b0df76627243d095b0c4400cb658b7e804dd03461cc03aee8fc8fe0bcada168"}
};

/* Write a hash in hexadecimal digits. */
static void
write_digits(const uint8_t *digest, char *digits)
{
	for (int i = 0; i < EMOGI_SHA256_BYTES; i++)
		sprintf(digits + 2 * i, "%02x", digest[i]);
}

int
main(void)
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
	{
		uint8_t		bytes[MAX_BYTES];
		uint8_t		digest[EMOGI_SHA256_BYTES];
		char		digits[2 * EMOGI_SHA256_BYTES + 1];

		for (size_t j = 0; j < known[i].nbytes; j++)
			bytes[j] = known[i].text != NULL ? (uint8_t) known[i].text[j]
				: (uint8_t) (j * 7 + known[i].nbytes);
		emogi_sha256(bytes, known[i].nbytes, digest);
		write_digits(digest, digits);
		CHECK(strcmp(digits, known[i].digest) == 0, "%zu bytes: %s", known[i].nbytes, digits);
	}
	return check_report("test_sha256");
}
