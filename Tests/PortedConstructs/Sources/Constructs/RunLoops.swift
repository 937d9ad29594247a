import Foundation

func idle() {
    CFRunLoopRemoveObserver(CFRunLoopGetMain(), nil, .commonModes)
}
