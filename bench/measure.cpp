// Runs a command COUNT times and says what each run cost: wall seconds, processor seconds, peak memory.
//
//   measure COUNT REPORT command [argument …]
//
// One JSON line per run goes to the file REPORT. A small process has to do this: Linux counts the memory of the process
// that forked towards the peak of the one that is started, so a Python script could see no peak below its own.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

double seconds(timespec t) { return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec); }
double seconds(timeval t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); }

double now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return seconds(t);
}

int exit_code(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("usage: measure COUNT REPORT command [argument ...]\n", stderr);
    return 2;
  }
  const int count = std::atoi(argv[1]);
  std::FILE* report = std::fopen(argv[2], "we");
  if (report == nullptr) {
    std::perror(argv[2]);
    return 3;
  }
  for (int run = 0; run < count; ++run) {
    const double start = now();
    const pid_t child = fork();
    if (child < 0) {
      std::perror("fork");
      return 3;
    }
    if (child == 0) {
      execvp(argv[3], argv + 3);
      std::fprintf(stderr, "%s: %s\n", argv[3], std::strerror(errno));
      _exit(127);
    }
    int status = 0;
    rusage used{};
    if (wait4(child, &status, 0, &used) != child) {
      std::perror("wait4");
      return 3;
    }
    const double wall = now() - start;
    std::fprintf(report, "{\"wall\": %.6f, \"cpu\": %.6f, \"peak_mb\": %.3f}\n", wall,
                 seconds(used.ru_utime) + seconds(used.ru_stime), static_cast<double>(used.ru_maxrss) / 1024);
    if (const int code = exit_code(status); code != 0) {
      std::fclose(report);
      return code;
    }
  }
  return std::fclose(report) == 0 ? 0 : 3;
}
