/* Reads the numbers of a UAI file into memory, as plainly as can be: how fast a file can be read at all. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv) {
    struct timespec began, ended;
    clock_gettime(CLOCK_MONOTONIC, &began);
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (!file) return 1;
    fseek(file, 0, SEEK_END);
    long size = ftell(file), count = 0, room = 1 << 20;
    rewind(file);
    char *text = malloc(size + 1), *at = text, *end;
    double *numbers = malloc(room * sizeof *numbers);
    if (fread(text, 1, size, file) != (size_t)size) return 1;
    text[size] = 0;
    while (*at > ' ') at++; /* MARKOV or BAYES */
    for (;; at = end) {
        if (count == room) numbers = realloc(numbers, (room *= 2) * sizeof *numbers);
        numbers[count] = strtod(at, &end);
        if (end == at) break;
        count++;
    }
    clock_gettime(CLOCK_MONOTONIC, &ended);
    double seconds = ended.tv_sec - began.tv_sec + 1e-9 * (ended.tv_nsec - began.tv_nsec);
    printf("{\"numbers\": %ld, \"seconds\": %.6f}\n", count, seconds);
    return 0;
}
