// An oracle for the tests of this package: the same flows in SimGrid.
//
// Reads "links", then a capacity (bytes/s) each; "hosts"; "routes", then each
// as: from to n link...; "flows", then each as: start(s) bytes from to. Prints
// the end of each flow in seconds.
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include <simgrid/s4u.hpp>

namespace sg4 = simgrid::s4u;

int main(int argc, char** argv)
{
  sg4::Engine e(&argc, argv);
  auto* zone = sg4::create_full_zone("zone");

  size_t n;
  std::cin >> n;
  std::vector<sg4::Link*> links;
  for (size_t i = 0; i < n; i++) {
    double capacity;
    std::cin >> capacity;
    links.push_back(zone->create_link("l" + std::to_string(i), capacity)->set_latency(0)->seal());
  }
  std::cin >> n;
  std::vector<sg4::Host*> hosts;
  for (size_t i = 0; i < n; i++)
    hosts.push_back(zone->create_host("h" + std::to_string(i), 1e9)->seal());
  std::cin >> n;
  for (size_t i = 0; i < n; i++) {
    size_t from, to, hops;
    std::cin >> from >> to >> hops;
    std::vector<sg4::LinkInRoute> route;
    for (size_t j = 0; j < hops; j++) {
      size_t l;
      std::cin >> l;
      route.emplace_back(links[l]);
    }
    zone->add_route(hosts[from]->get_netpoint(), hosts[to]->get_netpoint(), nullptr, nullptr, route, false);
  }
  zone->seal();

  std::cin >> n;
  std::vector<double> ends(n);
  for (size_t i = 0; i < n; i++) {
    double start;
    unsigned long long bytes;
    size_t from, to;
    std::cin >> start >> bytes >> from >> to;
    sg4::Actor::create("f" + std::to_string(i), hosts[from], [&ends, &hosts, i, start, bytes, from, to]() {
      sg4::this_actor::sleep_until(start);
      sg4::Comm::sendto(hosts[from], hosts[to], bytes);
      ends[i] = sg4::Engine::get_clock();
    });
  }
  e.run();
  for (double t : ends)
    std::printf("%.12f\n", t);
  return std::cin ? 0 : 1;
}
