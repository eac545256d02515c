#include "many_sites.h"
