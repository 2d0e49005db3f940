// lemma/plot/raster.cpp: the one place that knows librsvg and cairo. They bring fonts, XML and image libraries with them, which
// nobody needs who draws SVG: therefore they are opened on first use.
#include <cairo-pdf.h>
#include <cmath>
#include <dlfcn.h>
#include <lemma/core/error.hpp>
#include <lemma/plot/raster.hpp>
#include <librsvg/rsvg.h>
#include <memory>
#include <mutex>

namespace lemma::plot {
namespace {

class Library {
 public:
  explicit Library(const char* name) : name_(name), handle_(dlopen(name, RTLD_LAZY | RTLD_LOCAL)) {
    if (handle_) return;
    const char* why = dlerror();
    throw MachineError(std::string("PNG and PDF need the library ") + name + ", which cannot be loaded (" +
                       (why ? why : "no reason given") + "); Debian's package librsvg2-2 has it; SVG needs nothing");
  }
  template <class Function>
  Function* routine(const char* name) const {
    void* found = dlsym(handle_, name);
    if (!found) throw MachineError(std::string("the library ") + name_ + " has no routine " + name);
    return reinterpret_cast<Function*>(found);
  }

 private:
  const char* name_;
  void* handle_;
};

#define LEMMA_ROUTINE(library, name) decltype(::name)* name = library.routine<decltype(::name)>(#name)
struct Renderer {
  Library rsvg{"librsvg-2.so.2"}, cairo{"libcairo.so.2"}, objects{"libgobject-2.0.so.0"};
  LEMMA_ROUTINE(rsvg, rsvg_handle_new_from_data);
  LEMMA_ROUTINE(rsvg, rsvg_handle_render_document);
  LEMMA_ROUTINE(cairo, cairo_image_surface_create);
  LEMMA_ROUTINE(cairo, cairo_pdf_surface_create_for_stream);
  LEMMA_ROUTINE(cairo, cairo_pdf_surface_set_metadata);
  LEMMA_ROUTINE(cairo, cairo_surface_write_to_png_stream);
  LEMMA_ROUTINE(cairo, cairo_surface_finish);
  LEMMA_ROUTINE(cairo, cairo_surface_status);
  LEMMA_ROUTINE(cairo, cairo_surface_destroy);
  LEMMA_ROUTINE(cairo, cairo_create);
  LEMMA_ROUTINE(cairo, cairo_scale);
  LEMMA_ROUTINE(cairo, cairo_destroy);
  LEMMA_ROUTINE(objects, g_object_unref);
};
#undef LEMMA_ROUTINE

const Renderer& renderer() {
  static const Renderer library;
  return library;
}

cairo_status_t append(void* to, const unsigned char* bytes, unsigned int count) {
  static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(bytes), count);
  return CAIRO_STATUS_SUCCESS;
}

void draw(cairo_surface_t* surface, const std::string& svg, double width, double height, double zoom) {
  const Renderer& r = renderer();
  const std::unique_ptr<RsvgHandle, decltype(r.g_object_unref)> handle(
      r.rsvg_handle_new_from_data(reinterpret_cast<const guint8*>(svg.data()), svg.size(), nullptr), r.g_object_unref);
  const std::unique_ptr<cairo_t, decltype(r.cairo_destroy)> pen(r.cairo_create(surface), r.cairo_destroy);
  r.cairo_scale(pen.get(), zoom, zoom);
  const RsvgRectangle page{0, 0, width, height};
  if (!handle || !r.rsvg_handle_render_document(handle.get(), pen.get(), &page, nullptr))
    throw MachineError("librsvg cannot draw the picture; SVG needs no library");
}

using Surface = std::unique_ptr<cairo_surface_t, void (*)(cairo_surface_t*)>;

void check(cairo_status_t status) {
  if (status != CAIRO_STATUS_SUCCESS)
    throw MachineError("cairo cannot draw a picture of this size; a smaller one, or SVG, may do");
}

}  // namespace

std::string png_of(const std::string& svg, double width, double height, double zoom) {
  const Renderer& r = renderer();
  const Surface surface(r.cairo_image_surface_create(CAIRO_FORMAT_ARGB32, static_cast<int>(std::ceil(width * zoom)),
                                                     static_cast<int>(std::ceil(height * zoom))),
                        r.cairo_surface_destroy);
  check(r.cairo_surface_status(surface.get()));
  draw(surface.get(), svg, width, height, zoom);
  std::string out;
  check(r.cairo_surface_write_to_png_stream(surface.get(), append, &out));
  return out;
}

std::string pdf_of(const std::string& svg, double width, double height) {
  const Renderer& r = renderer();
  constexpr double kPoints = 0.75;  // a CSS pixel is 1/96 inch, a point 1/72
  std::string out;
  const Surface surface(r.cairo_pdf_surface_create_for_stream(append, &out, width * kPoints, height * kPoints),
                        r.cairo_surface_destroy);
  // The same picture is the same bytes, whenever it is drawn.
  r.cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_CREATE_DATE, "1970-01-01T00:00:00Z");
  draw(surface.get(), svg, width, height, kPoints);
  r.cairo_surface_finish(surface.get());
  check(r.cairo_surface_status(surface.get()));
  return out;
}

}  // namespace lemma::plot
