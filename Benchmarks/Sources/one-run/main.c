// one-run SECONDS FILE PROGRAM ARGUMENT…: runs a program as a whole process, terminates it and its child processes
// after the given time, and writes to FILE: wall clock seconds, processor seconds, peak megabytes. Exits with the
// program's status.
//
// Written in C and small, because the peak memory of a process includes the memory of the process that started it.

#define _GNU_SOURCE

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile pid_t child;

static void end(int number) {
    (void)number;
    if (child > 0) kill(-child, SIGKILL);
}

static double seconds(struct timeval time) { return (double)time.tv_sec + (double)time.tv_usec / 1e6; }

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int count, char **words) {
    if (count < 4) {
        fputs("usage: one-run SECONDS FILE PROGRAM ARGUMENT…\n", stderr);
        return 2;
    }
    double started = now();
    child = fork();
    if (child == 0) {
        setpgid(0, 0);
        execvp(words[3], words + 3);
        fprintf(stderr, "%s: %s\n", words[3], strerror(errno));
        _exit(127);
    }
    if (child < 0) {
        perror("one-run");
        return 1;
    }
    setpgid(child, child);
    signal(SIGALRM, end);
    // An interrupt must also terminate the program.
    signal(SIGINT, end);
    signal(SIGTERM, end);
    alarm((unsigned)atoi(words[1]));

    int status = 0;
    struct rusage usage;
    while (wait4(child, &status, 0, &usage) < 0) {
        if (errno != EINTR) return 1;
    }
    double clock = now() - started;
#ifdef __APPLE__
    double megabytes = (double)usage.ru_maxrss / 1048576;
#else
    double megabytes = (double)usage.ru_maxrss / 1024;
#endif
    FILE *file = fopen(words[2], "w");
    if (file == NULL) {
        perror(words[2]);
        return 1;
    }
    fprintf(file, "%.6f %.6f %.3f\n", clock, seconds(usage.ru_utime) + seconds(usage.ru_stime), megabytes);
    fclose(file);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
